#!/bin/sh
# Usage: ci/bench.sh [--deps-only] [SUITE.json]
# From a bare system to a report: installs what is missing, builds, checks, measures and compares with the
# baseline of this machine. The exit code is that of `assay gate`: 0 passed, 1 disagreement or regression,
# 2 unusable, such as a missing package without root to install it, 3 nothing was compared that should have been.
set -eu
suite=
deps_only=no
for argument in "$@"; do
  case $argument in
    --deps-only) deps_only=yes ;;
    -*) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
    /*) suite=$argument ;;
    *) suite=$PWD/$argument ;;
  esac
done
cd "$(dirname "$0")/.."
. ci/stages.sh
ci/install_packages.sh build
[ $deps_only = no ] || exit 0

stage "Building what is not built yet" $first_build
# The kernels of the best tier of this machine alone. A build that is there keeps its tiers.
[ -e build/release/CMakeCache.txt ] || cmake --preset release -DASSAY_TIERS=native
cmake --workflow --preset release

suite=${suite:-suites/smoke.json}
assay=build/release/assay
# A peer that runs its kernels for another processor would be no opponent.
if [ -z "${OPENBLAS_CORETYPE-}" ]; then
  remedy=$($assay doctor --openblas-remedy)
  if [ -n "$remedy" ]; then
    echo "OpenBLAS would not use its best kernels here: setting $remedy"
    export "${remedy?}"
  fi
fi

name=$(basename "$suite" .json)
mkdir -p build/reports
case $name in
  smoke) stage "Checking and measuring $name, about a minute" ;;
  *) stage "Checking and measuring $name" ;;
esac
exec $assay gate --suite "$suite" --baselines baselines --baselines build/baselines \
  --record-missing build/baselines --reports build/reports -o "build/reports/$name.json"
