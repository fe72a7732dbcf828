#!/bin/sh
# Usage: package_test.sh BUILD
# Packs BUILD, unpacks its .deb below a root of its own, looks at what is there, and builds the kernel of the consumer
# against it, once by CMake and once by pkg-config. Then starter.sh.
set -eu
build=$(cd "$1" && pwd)
work=$build/package
consumer=$(cd "$(dirname "$0")" && pwd)/consumer
for program in dpkg-deb dpkg-shlibdeps file pkg-config; do
  command -v $program >/dev/null || { echo "package_test: skipped, since there is no $program here" >&2; exit 0; }
done

fail() { echo "package_test: $1" >&2; exit 1; }
quietly() {  # LOG COMMAND…
  log=$work/$1
  shift
  "$@" >"$log" 2>&1 || { cat "$log"; fail "'$*' fails"; }
}

rm -rf "$work"
mkdir -p "$work"
quietly cpack.log cpack --config "$build/CPackConfig.cmake" -B "$work"
deb=$(echo "$work"/assay_*.deb)
[ -f "$deb" ] || fail 'cpack made no .deb'
root="$work/a root"
dpkg-deb -x "$deb" "$root"

depends=$(dpkg-deb -f "$deb" Depends)
for library in libc6 libbenchmark1 libfmt libbenchmark-dev libhwloc-dev libhwloc15 libhwy-dev; do
  case $depends in *$library*) ;; *) fail "does not depend on $library: $depends" ;; esac
done
for file in bin/assay share/man/man1/assay.1.gz share/doc/assay/copyright share/doc/assay/changelog.gz \
    share/bash-completion/completions/assay share/zsh/vendor-completions/_assay share/fish/vendor_completions.d/assay.fish \
    share/assay/ci/gate.sh share/assay/suites/smoke.json; do
  [ -s "$root/usr/$file" ] || fail "has no usr/$file"
done
if grep -rlaq 'kernels/known_' "$root/usr/bin" "$root"/usr/lib*; then
  fail 'has kernels that are wrong or cheat, which are for the package assay-teeth'
fi
[ -z "$(find "$root" -perm /022 ! -type l)" ] || fail 'has files that others may write'
tar -tzf "$work"/assay-*.tar.gz | grep -q '^assay-[^/]*/bin/assay$' || fail 'the tarball has no bin/assay'

prefix=$root/usr
[ "$("$prefix/bin/assay" --version)" = "$("$build/assay" --version)" ] || fail 'has another program'
variant=unrolled_by_two
names() { "$1" list gemm >"$work/list" && grep -q $variant "$work/list" && grep -q naive "$work/list"; }

quietly configure.log cmake -S "$consumer" -B "$work/build" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix"
grep -qF "assay_DIR:PATH=$prefix/" "$work/build/CMakeCache.txt" || fail 'CMake finds another assay'
quietly build.log cmake --build "$work/build" --target right
names "$work/build/right" || fail 'what CMake builds lacks a variant'

pc=$(find "$prefix" -name assay.pc)
# Paths hold a space, which pkg-config escapes for a shell.
eval "set -- $(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs assay)"
quietly pkg-config.log "${CXX:-c++}" -o "$work/by_pkg_config" "$consumer/$variant.cpp" "$@"
names "$work/by_pkg_config" || fail 'what pkg-config links lacks a variant'
"$consumer/starter.sh" "$prefix" "$work"
