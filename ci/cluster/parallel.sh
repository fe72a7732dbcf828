#!/bin/sh
# Usage: parallel.sh BUNDLE|run|tune SHARDS OUT [OPTION of parallel]… [-- OPTION of assay]… [-- OPTION of the merge]…
# Divides a gate of the BUNDLE that `assay prepare -o` made, a run, or the settings of `assay tune command` into SHARDS,
# has GNU parallel run them, and ends with the verdict and the exit code of all of them together.
#
#   ci/cluster/parallel.sh both 8 out --sshloginfile machines -- --suite smoke
#   ci/cluster/parallel.sh run 8 out -S node1,node2 -- --suite smoke --launches 6
#   ci/cluster/parallel.sh tune 4 out -S node1,node2 -- --vary workers=0,1,2 -- python train.py --workers {workers}
#
# One shard at a time runs on a machine, since two would disturb each other. Every machine sees OUT, the program and this
# folder under one name. The same command again runs what is missing alone. ASSAY names the program where it is not the
# assay of PATH.
# Exit codes: those of assay; 3 also while shards are missing.
set -eu
[ $# -ge 3 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
# There is another program of this name, in moreutils.
parallel --version 2>/dev/null | grep -q '^GNU parallel' ||
  { echo "${0##*/}: needs GNU parallel: apt-get install parallel" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
options=$("$here/shards.sh" begin "$0" "$@")
shards=$2
out=$(cd "$3" && pwd)
eval "set -- $options"

# A shard that the log calls done is not run again. So the log keeps the lines of shards whose file is there. Shards
# that gave no result, or whose file was removed, are run.
log=$out/parallel.log
if [ -e "$log" ]; then
  head -n 1 "$log" >"$log.new"
  sed 1d "$log" | while read -r number line; do
    [ ! -e "$out/shard-$((number - 1)).json" ] || printf '%s\t%s\n' "$number" "$line" >>"$log.new"
  done
  mv "$log.new" "$log"
fi
failed=0
seq 0 $((shards - 1)) |
  parallel -j1 --quote --joblog "$log" --resume --retries 2 "$@" "$here/shards.sh" run "$out" || failed=$?
# Up to 101 it is the number of shards without a result, which the merge names.
[ "$failed" -le 101 ] || { echo "${0##*/}: parallel ended with exit code $failed" >&2; exit 2; }
exec "$here/shards.sh" merge "$out"
