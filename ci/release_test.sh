#!/bin/sh
# Usage: release_test.sh [SUITE]...
# Makes what a release attaches, each in a bare system, and installs it in another that holds nothing of assay: a .deb of
# each suite (without arguments: Debian 12 and 13, and Ubuntu where its key is installed), and the tarball and the wheel in
# the oldest system that they are for and in a new one. Holds the list of what each is made of against its bytes.
set -eu
cd "$(dirname "$0")/.."
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
  echo 'release_test: skipped, since this is not root, or there is no debootstrap' >&2
  exit 0
fi
if [ $# -eq 0 ]; then
  set -- bookworm trixie
  if [ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ]; then set -- "$@" noble; fi
fi
work=$PWD/build/release_test
tree=$work/tree
rm -rf "$tree"
mkdir -p "$work"
git clone -q . "$tree"
bare() {  # SUITE COMMAND...
  suite=$1
  shift
  echo "release_test: $suite: $*"
  ci/in_bare_root.sh "$suite" "$work/roots" "$tree" "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
}
for each in "$@"; do
  rm -rf "$tree/build" "$tree/deb"
  bare "$each" ci/release.sh deb deb
  bare "$each" sh -c 'ci/release.sh check deb/*.deb'
  ci/sbom_test.py "$tree"/deb/*.deb
done
rm -rf "$tree/build"
bare bookworm ci/release.sh portable packages
ci/sbom_test.py "$tree"/packages/*.tar.gz "$tree"/packages/*.whl
for package in tar.gz whl; do
  for each in bullseye trixie; do bare "$each" sh -c 'ci/release.sh check packages/*."$1"' sh $package; done
done
