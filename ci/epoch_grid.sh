#!/bin/sh
# Usage: ci/epoch_grid.sh PROGRAM LOG
# Predicts and runs whole epochs of every job in suites/jobs with 0, 1 and 2 workers, 1, 2 and 4 batches ahead, in two
# sizes of batches, warm, and of one setting with the records' pages dropped before; a line for each is added to LOG,
# which `PROGRAM epoch --score LOG` sums up. Takes half an hour; a quiet one says more.
set -eu
[ $# -eq 2 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
program=$1 log=$2
jobs=$(cd "$(dirname "$0")/../suites/jobs" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# JOB BATCH WORKERS PREFETCH COLD
epoch() {
  sed -e "s/\"batch\": [0-9]*/\"batch\": $2/" -e "s/\"workers\": [0-9]*/\"workers\": $3/" \
    -e "s/\"prefetch\": [0-9]*/\"prefetch\": $4, \"cold\": $5/" "$1" >"$work/job.json"
  "$program" epoch --job "$work/job.json" --elsewhere --log "$log" >"$work/out" 2>&1 || {
    [ $? -eq 1 ] && grep -q "^MISSED" "$work/out" || { cat "$work/out" >&2; exit 1; }  # a miss is in the log
  }
}

for job in "$jobs"/*.json; do
  for batch in 64 128; do
    epoch "$job" $batch 0 1 false
    for workers in 1 2; do
      for prefetch in 1 2 4; do epoch "$job" $batch $workers $prefetch false; done
    done
  done
  epoch "$job" 64 1 2 true
done
"$program" epoch --score "$log"
