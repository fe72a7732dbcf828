#!/bin/sh
# Usage: in_aarch64.sh [COMMAND...]
# Runs COMMAND where programs for AArch64 start under qemu, as all others do: cmake --preset aarch64, ctest. Libraries are
# packages of Debian that it unpacks once below build/aarch64-root: to install them would upgrade those of this processor.
# Needs g++-aarch64-linux-gnu, qemu-user-static, and Linux 6.7 or a system that starts such programs by itself. It changes
# neither packages nor the system.
set -eu
cd "$(dirname "$0")/.."
root=$PWD/build/aarch64-root
if [ ! -e "$root.made" ]; then
  rm -rf "$root"
  mkdir -p "$root" "$root.apt/lists/partial" "$root.apt/cache/archives/partial"
  : >"$root.apt/status"
  # A list of packages of its own, in which none is installed.
  apt() {
    apt-get -q -y -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$root.apt" \
      -o Dir::State::Status="$root.apt/status" -o Dir::Cache="$root.apt/cache" -o Debug::NoLocking=1 "$@"
  }
  apt update
  # shellcheck disable=SC2046 # a word per package
  apt install --download-only --no-install-recommends libgomp1 libstdc++6 \
    $(sed -n -e 's/^debian build //p' -e 's/^debian test //p' ci/packages.txt | tr ' ' '\n' | grep -e '-dev$' |
      grep -vx -e libclang-rt-dev -e libomp-dev)
  for package in "$root.apt/cache/archives"/*.deb; do dpkg -x "$package" "$root"; done
  ln -s openblas-pthread/libopenblas.so.0 "$root/usr/lib/aarch64-linux-gnu"  # as an installation would
  # Links to absolute paths would leave the root.
  find "$root" -type l -lname '/*' | while read -r link; do ln -sfn "$root$(readlink "$link")" "$link"; done
  rm -rf "$root.apt"
  touch "$root.made"
fi
[ $# -gt 0 ] || exit 0
export QEMU_LD_PREFIX="$root"
! "$root/lib/ld-linux-aarch64.so.1" --version >/dev/null 2>&1 || exec "$@"
# A user namespace of its own has a table of interpreters of its own. With F the interpreter is opened here.
exec unshare --user --map-root-user --mount sh -euc '
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
  magic="\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
  mask="\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
  printf %s ":aarch64:M::$magic:$mask:$(command -v qemu-aarch64-static):F" >/proc/sys/fs/binfmt_misc/register
  exec "$@"' sh "$@"
