#!/bin/sh
# Usage: ci/test.sh [--deps-only]
# From a bare system to tested: installs what is missing, then checks every variant of the build that is measured,
# runs the tests of threaded code under the thread sanitizer, and all tests under the address and
# undefined-behaviour sanitizers.
# Exit codes: 0 all passed, 3 a package is missing and this is not root, else the first failure's.
set -eu
case $# in
  0) deps_only=no ;;
  *) deps_only=yes
     if [ "$*" != --deps-only ]; then sed -n '2s/^# //p' "$0" >&2; exit 2; fi ;;
esac
cd "$(dirname "$0")/.."
ci/install_packages.sh build test
[ $deps_only = no ] || exit 0

cmake --workflow --preset release
build/release/assay check
cmake --workflow --preset tsan
cmake --workflow --preset dev
