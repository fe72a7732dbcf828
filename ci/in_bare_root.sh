#!/bin/sh
# Usage: in_bare_root.sh SUITE ROOTS FOLDER COMMAND...
# Runs COMMAND in FOLDER, which is /here there, in a minimal Debian or Ubuntu (bullseye, bookworm, trixie, noble) that holds
# nothing else. The root is made once, below ROOTS; whatever COMMAND changes in it is forgotten. Needs root and debootstrap.
set -eu
[ $# -ge 4 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
suite=$1 roots=$2 folder=$3
shift 3
mkdir -p "$roots"
base=$(cd "$roots" && pwd)/$suite
if [ ! -e "$base.made" ]; then
  rm -rf --one-file-system "$base"
  case $suite in noble) components=main,universe ;; *) components=main ;; esac
  debootstrap --force-check-gpg --variant=minbase --components=$components "$suite" "$base" >"$base.log" 2>&1 ||
    { tail -n 5 "$base.log" >&2; exit 1; }
  cp -a /etc/apt/apt.conf.d/. "$base/etc/apt/apt.conf.d/"
  touch "$base.made"
fi
changed=$(mktemp -d "$base.XXXXXX")
trap 'rm -rf --one-file-system "$changed"' EXIT
mkdir "$changed/root" "$changed/upper" "$changed/scratch"
# Mounts of a namespace of its own end with it.
unshare --mount --pid --fork --propagation private sh -euc '
  base=$1 changed=$2 folder=$3 root=$2/root
  shift 3
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$changed/upper,workdir=$changed/scratch" "$root"
  mkdir -p "$root/here"
  mount --bind "$folder" "$root/here"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  exec chroot "$root" sh -c "cd /here && exec \"\$@\"" sh "$@"' sh "$base" "$changed" "$folder" "$@"
