#!/bin/sh
# Usage: ci/test.sh [--deps-only]
# From a bare system to tested: installs what is missing, then checks every variant of the build that is measured
# and what is installed of it, runs the tests of threaded code under the thread sanitizer, and all tests under the
# address and undefined-behaviour sanitizers. Warnings are errors in all three builds.
# Exit codes: 0 all passed, 2 a package is missing and this is not root, else the first failure's.
set -eu
case $# in
  0) deps_only=no ;;
  *) deps_only=yes
     if [ "$*" != --deps-only ]; then sed -n '2s/^# //p' "$0" >&2; exit 2; fi ;;
esac
cd "$(dirname "$0")/.."
. ci/stages.sh
ci/install_packages.sh build test
[ $deps_only = no ] || exit 0

stage "1 of 6: building for measurement what is not built yet" $release_build
cmake --preset release -DASSAY_WARNINGS_AS_ERRORS=ON
cmake --build --preset release
stage "2 of 6: checking every variant, and a foreign project against what is installed and packed, about a minute"
build/release/assay check
ci/consumer/test.sh build/release
ci/package_test.sh build/release
ci/plugin/test.sh build/release
stage "3 of 6: building with the thread sanitizer" $tsan_build
cmake --preset tsan
cmake --build --preset tsan
stage "4 of 6: testing threaded code, about a minute"
ctest --preset tsan
stage "5 of 6: building all tests with the address and undefined-behaviour sanitizers" $dev_build
cmake --preset dev
cmake --build --preset dev
stage "6 of 6: running all tests, about five minutes on two cores"
ctest --preset dev
