#!/bin/sh
# Usage: install_packages.sh KIND...   Installs the packages of these kinds in ci/packages.txt that are missing.
# Without root it names them and exits 2; with nothing missing it calls no package manager.
set -eu
list=${0%/*}/packages.txt

# First family in the list that this system says it is or is like.
system=unknown
[ ! -r /etc/os-release ] || system=$(. /etc/os-release && echo "$ID ${ID_LIKE-}")
family=
for word in $system; do
  if [ -z "$family" ] && grep -q "^$word " "$list"; then family=$word; fi
done
if [ -z "$family" ]; then
  echo "No packages are listed for this system ($system); continuing with what is installed." >&2
  exit 0
fi

is_installed() {
  case $family in
    debian) dpkg-query -W -f '${Status}\n' "$1" 2>/dev/null | grep -q ' installed$' ;;
    fedora) rpm -q --whatprovides "$1" >/dev/null 2>&1 ;;
    arch) pacman -Q "$1" >/dev/null 2>&1 ;;
  esac
}

missing=
for kind in "$@"; do
  for package in $(sed -n "s/^$family $kind //p" "$list"); do
    is_installed "$package" || missing="$missing $package"
  done
done

case $family in
  debian) install='apt-get install -y --no-install-recommends' ;;
  fedora) install='dnf install -y --setopt=install_weak_deps=False' ;;
  arch) install='pacman -S --needed --noconfirm' ;;
esac
if [ -z "$missing" ]; then
  :
elif [ "$(id -u)" -ne 0 ]; then
  echo "Missing packages:$missing" >&2
  echo "As root: $install$missing" >&2
  exit 2
else
  echo "Installing:$missing"
  export DEBIAN_FRONTEND=noninteractive
  [ "$family" != debian ] || apt-get update -q
  $install $missing
fi

version=$(cmake --version | sed -n '1s/^[^0-9]*//p')
case $version in
  [4-9].* | [1-9][0-9].* | 3.2[5-9].* | 3.[3-9][0-9].* | 3.[1-9][0-9][0-9].*) ;;
  *) echo "assay needs cmake 3.25 or newer, and this is ${version:-missing}: Debian 12 or Ubuntu 24.04 have it" >&2
     exit 2 ;;
esac
