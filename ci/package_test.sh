#!/bin/sh
# Usage: package_test.sh BUILD
# Packs BUILD, packs a copy of it elsewhere into the same bytes, unpacks its .deb below a root of its own, looks at what is
# there, and builds the kernel of the consumer against it, once by CMake and once by pkg-config. Then starter.sh.
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

# A copy of the build in a folder of another name and depth, packed by a user of another mask, language and time zone.
again=$work/elsewhere/than/before
mkdir -p "$again"
for each in "$build"/*; do
  case $each in "$work" | "$build/pages" | "$build/consumer" | "$build/layouts"*) ;; *) cp -al "$each" "$again" ;; esac
done
find "$again" \( -name cmake_install.cmake -o -name CPackConfig.cmake \) -exec sed -i "s|$build|$again|g" {} +
(umask 077 && quietly again.log env TZ=Pacific/Kiritimati LC_ALL=C cpack --config "$again/CPackConfig.cmake" -B "$again")
for package in "$deb" "$work"/assay-*.tar.gz; do
  cmp "$package" "$again/${package##*/}" || fail 'has other bytes when it is packed elsewhere'
done

# An object from sources elsewhere is the same, and is not without the flags that keep the folder out of it.
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
mkdir -p "$work/other"
cp -R "$source/kernels" "$source/reference" "$source/harness" "$work/other"
# Precompiled headers are of one folder, and a compiler cache may take both for one.
export CCACHE_DISABLE=1
compile=$(sed -n 's|^ *"command": "\(.* -c [^ ]*/kernels/adamw/hoisted.cpp\)",*$|\1|p' "$build/compile_commands.json" |
  sed 's/\\"/"/g; s/-Winvalid-pch -include [^ ]*//; s/ -o [^ ]*//')
[ -n "$compile" ] || fail 'has no command for kernels/adamw/hoisted.cpp'
nameless=$(echo "$compile" | sed 's/-ffile-prefix-map=[^ ]*//g')
elsewhere() { echo "$1" | sed "s|$source/|$work/other/|g"; }
(cd "$build" && eval "$compile -o '$work/here.o'" && eval "$nameless -o '$work/here_named.o'")
mkdir -p "$work/other/build/release"
(cd "$work/other/build/release" && eval "$(elsewhere "$compile") -o '$work/there.o'" &&
  eval "$(elsewhere "$nameless") -o '$work/there_named.o'")
cmp "$work/here.o" "$work/there.o" || fail 'compiles an object that depends on the folder of its sources'
! cmp -s "$work/here_named.o" "$work/there_named.o" || fail 'cannot tell an object that names its folder'
unset CCACHE_DISABLE

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
