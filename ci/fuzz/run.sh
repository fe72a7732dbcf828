#!/bin/sh
# Usage: ci/fuzz/run.sh PROGRAM [SECONDS]   Feeds each reader of PROGRAM (assay_fuzz of preset `fuzz`) what a fuzzer makes of
# its corpus, for SECONDS each (default 10): of what tests have for it, and of ci/fuzz/corpus/READER, earlier finds. An
# input that was found stays in build/fuzz-finds/READER, to become a test.
# Exit codes: 0 none found, 1 found, 2 the program does not run.
set -eu
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
program=$1 seconds=${2:-10} failed=0
ci/fuzz/seeds.py build/fuzz-corpus
readers=$("$program") && [ -n "$readers" ] || { echo "$program names no readers" >&2; exit 2; }
for reader in $readers; do
  mkdir -p "build/fuzz-corpus/$reader" "build/fuzz-finds/$reader"
  corpus=
  [ ! -d "ci/fuzz/corpus/$reader" ] || corpus=ci/fuzz/corpus/$reader
  # shellcheck disable=SC2086 # one word or none
  if ASSAY_READER=$reader "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
      -artifact_prefix="build/fuzz-finds/$reader/" -print_final_stats=1 "build/fuzz-corpus/$reader" $corpus \
      >"build/fuzz-finds/$reader.log" 2>&1; then
    echo "$reader: $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz-finds/$reader.log") inputs, nothing found"
  else
    failed=1
    echo "$reader: FOUND, in build/fuzz-finds/$reader"
    tail -n 40 "build/fuzz-finds/$reader.log"
  fi
done
exit $failed
