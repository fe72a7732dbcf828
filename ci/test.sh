#!/bin/sh
# Usage: ci/test.sh [--deps-only] [--all [--shard I/N]]
# From a bare system to tested: installs the missing packages, then builds and tests. Warnings are errors in every build
# that it begins.
#   no option  whatever must never break, in a quarter of an hour on two processors: the build that is measured with
#              `check`, with the best tier of this processor alone, the tests of the harness and of contracts, a
#              foreign project, a page in a browser
#   --all      all of that with every tier, gates and recordings from beginning to end, the harness and every tier
#              sanitized, cheats, packages, plug-ins, clusters, revisions, each source by itself, threaded kernels
#              under the thread sanitizer, readers of files under a fuzzer
#   --shard I/N  of --all, the parts of machine I of N, counted from 0
# Exit codes: 0 all passed, 2 a package is missing and this is not root, else the code of the first failure.
set -eu
usage() { sed -n '2s/^# //p' "$0" >&2; exit 2; }
deps_only=no all=no shard=0 shards=1
while [ $# -gt 0 ]; do
  case $1 in
    --deps-only) deps_only=yes ;;
    --all) all=yes ;;
    --shard)
      [ $# -gt 1 ] || usage
      shift
      shard=${1%/*} shards=${1#*/}
      case $shard,$shards in ,* | *, | *[!0-9,]*) usage ;; esac
      [ "$shard" -lt "$shards" ] || usage ;;
    *) usage ;;
  esac
  shift
done
[ $shards -eq 1 ] || [ $all = yes ] || usage
cd "$(dirname "$0")/.."
. ci/stages.sh
kinds='build test'
[ $all = no ] || kinds="$kinds pack all"
# shellcheck disable=SC2086 # two or three words
ci/install_packages.sh $kinds
[ $deps_only = no ] || exit 0

# beside LOG COMMAND...: starts a command that leaves a processor idle, to run while the next build does.
# `joined` waits for it, prints its output, and fails as it did. It ends with this script, in whatever way that ends.
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
  [ -n "$beside" ] || return 0
  status=0
  wait "$beside" || status=$?
  beside=
  cat "$log"
  return $status
}

# configured PRESET OPTION...: a build of bench.sh is gone on with. With another flag all of it would be built again.
configured() {
  preset=$1
  shift
  [ -e "build/$preset/CMakeCache.txt" ] || set -- "$@" -DASSAY_WARNINGS_AS_ERRORS=ON
  cmake --preset "$preset" "$@"
}
tested="ctest --output-on-failure --no-tests=error --parallel 3 --test-dir"

release() {
  built=native seconds=$first_build
  [ $all = no ] || built=usual seconds=$release_build
  stage 'Release: building all that is measured' "$seconds"
  configured release -DASSAY_BUILD_TESTS=ON -DASSAY_TIERS=$built
  cmake --build --preset release
}

# The parts of --all; each builds what it needs.
usual() {
  release
  # It takes one processor for most of its time.
  beside build/release/check.log build/release/assay check
  stage 'Building the tests'
  cmake --build --preset release --target assay_harness_tests reference_tests end_to_end_tests
  joined
  stage 'Running them, and building a foreign project'
  $tested build/release -L 'harness|contracts|structure|program|measured'
}
tiers() {
  stage 'Address and undefined-behaviour sanitizers: building every tier and all tests' $all_build
  configured dev -DASSAY_TIERS=usual
  cmake --build --preset dev
  $tested build/dev -LE 'cluster|revision|measured|cheats'
}
cheats() {
  release
  stage 'Checking the kernels that must be rejected, and the honest ones that look like them'
  cmake --build build/release --target assay_teeth
  $tested build/release -L cheats
  build/release/assay check --known-bad
  build/release/assay check --known-cheats
}
packages() {
  release
  stage 'Packing, and building foreign projects against what is packed'
  ci/package_test.sh build/release
  ci/plugin/test.sh build/release
  stage 'Making what a release attaches in bare systems, and installing it in others' $release_test
  ci/release_test.sh
}
clusters() {
  release
  stage 'Dividing gates among machines, building revisions in several layouts, and gates and recordings that take long'
  cmake --build build/release --target assay_planted assay_revision_programs bench_tests end_to_end_tests
  $tested build/release -L 'cluster|revision|long'
}
# Hides nothing behind sources compiled together: each has to include what it uses.
apart() {
  stage 'Building each source by itself' $edit_build
  configured edit
  cmake --build --preset edit
}
threads() {
  stage 'Thread sanitizer: building one tier of the kernels' $tsan_build
  configured tsan -DASSAY_TIERS=portable
  cmake --build --preset tsan
  ctest --preset tsan
}
fuzz() {
  stage 'Building the readers of files for a fuzzer' $dev_build
  configured fuzz
  cmake --build --preset fuzz
  stage 'Reading what a fuzzer makes'
  ci/fuzz/run.sh build/fuzz/ci/assay_fuzz
}

part=0
for each in usual tiers cheats packages clusters apart threads fuzz; do
  if [ $((part % shards)) -eq "$shard" ]; then
    [ $all = no ] || echo "=== $each"
    $each
  fi
  part=$((part + 1))
  [ $all = yes ] || break
done
