#!/bin/sh
# Usage: repack.sh PACKAGE...
# Packs a .deb or a .tar.gz again, so that a commit gives the same bytes in any folder, at any time and whoever packs: names
# in order, all owned by root, none writable by others, all of the time of the commit, or of SOURCE_DATE_EPOCH. CPack takes
# members and checksums in the order of the file system, and counts folders by the bytes that they take there. Packages of
# Debian are made in this way, too: dpkg-deb sorts, and takes the time from that variable.
set -eu
export LC_ALL=C
# 1980 is the first year that an archive of any kind can hold, for sources outside a checkout.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$(dirname "$0")" log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH
umask 022
for package in "$@"; do
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  tree=$work/tree
  mkdir "$tree"
  case $package in
    *.deb) dpkg-deb --raw-extract "$package" "$tree" ;;
    *.tar.gz) tar -xzf "$package" -C "$tree" ;;
    *) echo "repack.sh: $package is neither a .deb nor a .tar.gz" >&2; exit 2 ;;
  esac
  chmod -R u=rwX,go=rX "$tree"
  if [ -d "$tree/DEBIAN" ]; then
    sort -k 2 -o "$tree/DEBIAN/md5sums" "$tree/DEBIAN/md5sums"
    # As dpkg-gencontrol counts: a file by its bytes, a folder or link as 1 KiB.
    size=$(find "$tree" -mindepth 1 -path "$tree/DEBIAN" -prune -o -type f -printf '%s\n' -o -printf '1\n' |
      awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }')
    sed -i "s/^Installed-Size: .*/Installed-Size: $size/" "$tree/DEBIAN/control"
  fi
  find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  case $package in
    *.deb) dpkg-deb --root-owner-group -Zgzip --build "$tree" "$package" >/dev/null ;;
    *)
      (cd "$tree" && tar --format=gnu --sort=name --owner=root:0 --group=root:0 -cf "$work/packed" -- *)
      gzip -9nc "$work/packed" >"$package" ;;
  esac
  rm -rf "$work"
done
