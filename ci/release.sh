#!/bin/sh
# Usage: release.sh deb OUT        packs a .deb for the Debian or Ubuntu that it runs on
#        release.sh portable OUT   on Debian 12: a tarball and a wheel that run with glibc 2.31 and later
#        release.sh check FILE     installs one of these where nothing of assay is, and demands that it works
# As root, which installs packages. Beside each package lies PACKAGE.spdx.json, the list of what it is made of. Portable
# objects are those of the .deb. They are linked with the glibc of Debian 11, whose symbols later ones keep, and with archives
# of everything else, but for its libgomp, which comes along. Peers such as OpenBLAS, which would be needed to start, are
# left out.
set -eu
what=${1-} place=${2-}
[ -n "$place" ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
case $place in /*) ;; *) place=$PWD/$place ;; esac
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(assay VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
# The checkout may be another user's, who lent it to this container.
export DEBIAN_FRONTEND=noninteractive GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
options="-DASSAY_TIERS=usual -DASSAY_BUILD_TESTS=OFF ${ASSAY_REPOSITORY:+-DASSAY_REPOSITORY=$ASSAY_REPOSITORY}"
fail() { echo "release.sh: $1" >&2; exit 1; }

# The linker says in a map beside each program what it took, for the list of what a package is made of.
map='-Wl,-Map=%.map'
prepare() {
  ci/install_packages.sh build pack
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
  export SOURCE_DATE_EPOCH
}

deb() {
  prepare
  # shellcheck disable=SC2086 # several options
  cmake --preset release $options "-DCMAKE_EXE_LINKER_FLAGS=$map" "-DCMAKE_SHARED_LINKER_FLAGS=$map"
  cmake --build --preset release
  (cd build/release && cpack -G DEB)
  . /etc/os-release
  mkdir -p "$place"
  package=$place/assay_${version}_$ID${VERSION_ID}_amd64.deb
  cp "build/release/assay_${version}_amd64.deb" "$package"
  /usr/bin/python3 ci/sbom.py "$package" build/release
}

# Debian 11 gives the libraries to link with, and this Debian the sources of those that it has shared alone.
fetch_old_libraries() {
  mkdir -p "$old/state/lists/partial" "$old/cache/archives/partial"
  mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources 2>/dev/null |
    sed -n 's/^URIs: *//p; s/^deb \(http[^ ]*\) .*/\1/p' | head -n 1)
  key="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror"
  printf '%s\n' "deb $key bullseye main" "deb-src $key bookworm main" >"$old/sources.list"
  (
    cd "$old"
    get() {
      apt-get -q -o APT::Sandbox::User=root -o Dir::Etc::sourcelist="$old/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State="$old/state" -o Dir::State::status=/dev/null -o Dir::Cache="$old/cache" "$@"
    }
    get update
    get download libc6 libc6-dev libgcc-10-dev libgomp1
    for package in *.deb; do dpkg -x "$package" root; done
    get source benchmark highway fmtlib hwloc zlib
  )
  libraries=$old/root/usr/lib/x86_64-linux-gnu
  ln -sfn "$old/root/lib/x86_64-linux-gnu/ld-2.31.so" "$old/root/lib64/ld-linux-x86-64.so.2"
  for link in "$libraries"/*; do
    case $(readlink "$link") in /*) ln -sfn "$old/root$(readlink "$link")" "$link" ;; esac
  done
  mkdir -p "$old/first"
  cp "$old/root/usr/lib/gcc/x86_64-linux-gnu/10/libgcc_eh.a" "$libraries/libgomp.so.1" "$old/first"
  ln -sfn libgomp.so.1 "$old/first/libgomp.so"
}

archived() {  # NAME FLAGS SOURCE...
  name=$1 flags=$2
  shift 2
  mkdir -p "$old/objects/$name"
  echo "lib$name.a ${1%%/*}" >>"$old/first/origins"
  for source in "$@"; do
    compiler=c++
    case $source in *_main.cc | *_test.cc) continue ;; *.c) compiler=cc ;; esac
    # shellcheck disable=SC2086 # several flags
    $compiler -O2 -DNDEBUG -fPIC $flags -c "$source" -o "$old/objects/$name/$(basename "$source").o"
  done
  ar rcs "$old/first/lib$name.a" "$old/objects/$name"/*.o
}
archive_all() (
  cd "$old"
  archived benchmark "-std=c++17 -DHAVE_STD_REGEX -DHAVE_STEADY_CLOCK -I $(echo benchmark-*/include)" benchmark-*/src/*.cc
  archived hwy "-std=c++17 -I $(echo highway-*/)" highway-*/hwy/*.cc
  archived fmt "-std=c++20 -I $(echo fmtlib-*/include)" fmtlib-*/src/format.cc fmtlib-*/src/os.cc
  archived z "-DHAVE_UNISTD_H -D_LARGEFILE64_SOURCE=1 -I $(echo zlib-*/)" zlib-*/*.c
  cd hwloc-*/
  # hwloc needs no other library to tell processors and memory.
  ./configure --quiet --with-pic --enable-static --disable-shared --disable-io --disable-libxml2 --disable-cairo --disable-plugins
  make -s -j "$(nproc)" -C hwloc libhwloc.la
  cp hwloc/.libs/libhwloc.a "$old/first"
  echo "libhwloc.a ${PWD##*/}" >>"$old/first/origins"
)

portable() {
  prepare
  old=$PWD/build/glibc-2.31
  if ! grep -qs libhwloc "$old/first/origins"; then
    rm -rf "$old"
    fetch_old_libraries
    archive_all
  fi
  libraries=$old/root/usr/lib/x86_64-linux-gnu
  cc -O2 -fPIC -fvisibility=hidden -c ci/cmake/glibc_2_31.c -o "$old/first/glibc_2_31.o"
  # Whole archives stand first, so that nothing is left to look for in the shared libraries that CMake names behind them.
  link="--sysroot=$old/root -B$libraries -L$old/first -L$libraries -L$old/root/lib/x86_64-linux-gnu"
  link="$link -static-libstdc++ -static-libgcc $old/first/glibc_2_31.o -Wl,--push-state,--no-as-needed -lpthread -ldl -lrt -lm"
  link="$link -Wl,--pop-state,--as-needed,--push-state,--whole-archive"
  for name in benchmark hwy fmt hwloc z; do link="$link $old/first/lib$name.a"; done
  link="$link -Wl,--pop-state,--exclude-libs,ALL $map"
  build=build/portable
  # shellcheck disable=SC2086 # several options
  cmake --preset release -B $build $options -DASSAY_WITH_OPENBLAS=OFF -DASSAY_WITH_ONEDNN=OFF \
    -DASSAY_WITH_TBB=OFF "-DCMAKE_EXE_LINKER_FLAGS=$link" "-DCMAKE_SHARED_LINKER_FLAGS=$link" \
    "-DOpenMP_gomp_LIBRARY=$old/first/libgomp.so.1" '-DCMAKE_INSTALL_RPATH=$ORIGIN/../lib/assay' \
    -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON "-DASSAY_BUNDLED=$old/first/libgomp.so.1"
  cmake --build $build
  for file in $build/assay $build/libassay.so; do
    newest=$(objdump -T $file | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
    [ "$(printf '%s\nGLIBC_2.31\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.31 ] || fail "$file needs $newest"
    needed=$(objdump -p $file | sed -n 's/^ *NEEDED *//p' | grep -Ev '^(lib(c|m|dl|rt|pthread|gomp)|ld-linux-x86-64)\.so\.[0-9]*$' || :)
    [ -z "$needed" ] || fail "$file needs $needed"
  done
  mkdir -p "$place"
  (cd $build && cpack -G TGZ)
  cp $build/assay-"$version"-linux-x86_64.tar.gz "$place"
  # The wheel is made of the tarball's files, where pyproject.toml looks for them.
  wheel=$build/wheel
  rm -rf $wheel
  mkdir -p $wheel/build/release/bundled
  cp -r pyproject.toml harness $wheel
  cp $build/assay $build/libassay.so $wheel/build/release
  cp "$old/first/libgomp.so.1" $wheel/build/release/bundled
  (cd $wheel && /usr/bin/python3 -c 'import sys; from setuptools import build_meta
build_meta.build_wheel(sys.argv[1], {"--build-option": ["--plat-name", "manylinux_2_31_x86_64"]})' "$place")
  for package in "$place/assay-$version-linux-x86_64.tar.gz" "$place/assay-$version"-*.whl; do
    /usr/bin/python3 ci/sbom.py "$package" $build "$old"
  done
}

# Whatever there is: it says its version, and its library and program check a kernel.
check() {
  ! command -v assay >/dev/null || fail 'assay is installed here already'
  work=$(mktemp -d)
  python=
  case $place in
    *.deb)
      apt-get update -q && apt-get install -q -y --no-install-recommends "$place"
      assay=assay ;;
    *.tar.gz)
      tar -xzf "$place" -C "$work" --strip-components=1
      assay=$work/bin/assay ;;
    *.whl)
      apt-get update -q && apt-get install -q -y --no-install-recommends python3-venv
      python3 -m venv "$work"
      "$work/bin/pip" install -q --no-index "$place"
      assay=$work/bin/assay python=$work/bin/python ;;
    *) fail "$place is no package of a release" ;;
  esac
  said=$($assay --version)
  printf '%s\n' "$said"
  case $said in "assay $version"*) ;; *) fail "it is not of version $version" ;; esac
  # A release is of a commit, and of nothing that is in no commit.
  printf '%s\n' "$said" | grep -Eqx 'commit [0-9a-f]{12}' || fail 'it is not of a commit alone'
  for program in "$assay" ${python:+"$python -m assay"}; do
    # shellcheck disable=SC2086 # several words
    $program check -k rmsnorm/naive >"$work/said" || fail "$program: $(tail -n 1 "$work/said")"
    tail -n 1 "$work/said"
  done
  case $place in *.deb) /usr/share/assay/ci/gate.sh 2>&1 | grep 'there is no base' ;; esac
}

case $what in
  deb | portable | check) $what ;;
  *) fail "$what is none of deb, portable and check" ;;
esac
