#!/bin/sh
# Usage: ci/test.sh [--deps-only]
# From a bare system to tested: installs what is missing, then checks every variant of the build that is measured
# and what is installed of it, runs the tests of threaded code under the thread sanitizer, and all tests under the
# address and undefined-behaviour sanitizers. Warnings are errors in every build that it begins.
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

# beside LOG COMMAND…: starts what leaves most of the processors idle, to run while the next build does, and keeps its
# output. `joined` waits for it, prints that, and fails as it did. It ends with this script, in whatever way that ends.
beside=
trap '[ -z "$beside" ] || kill -- "-$beside" 2>/dev/null' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
beside() {
  log=$1
  shift
  setsid "$@" >"$log" 2>&1 &
  beside=$!
}
joined() {
  status=0
  wait "$beside" || status=$?
  beside=
  cat "$log"
  return $status
}

stage "1 of 4: building for measurement what is not built yet" $release_build
# With another flag all that ci/bench.sh has built would be built again.
if [ -e build/release/CMakeCache.txt ]; then werror=; else werror=-DASSAY_WARNINGS_AS_ERRORS=ON; fi
cmake --preset release $werror
cmake --build --preset release
stage "2 of 4: checking every variant, and a foreign project against what is installed and packed; beside that, building \
with the thread sanitizer" $tsan_build
beside build/release/check.log sh -ec 'build/release/assay check
  ci/consumer/test.sh build/release
  ci/package_test.sh build/release
  ci/plugin/test.sh build/release'
cmake --preset tsan
cmake --build --preset tsan
joined
stage "3 of 4: testing threaded code; beside that, building all tests with the address and undefined-behaviour \
sanitizers" $dev_build
beside build/tsan/ctest.log ctest --preset tsan
cmake --preset dev
cmake --build --preset dev
joined
stage "4 of 4: running all tests, about five minutes on two cores"
ctest --preset dev
