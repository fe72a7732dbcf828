#!/bin/sh
# Usage: slurm.sh BUNDLE|run|tune SHARDS OUT [OPTION of sbatch]… [-- OPTION of assay]… [-- OPTION of the merge]…
# Divides a gate of the BUNDLE that `assay prepare -o` made, a run, or the settings of `assay tune command` into SHARDS,
# submits them as a job array, each on a node of its own, and behind it a job that puts them together and says what all
# of them found.
#
#   ci/cluster/slurm.sh both 8 out --partition=bench -- --suite smoke
#   ci/cluster/slurm.sh run 8 out --wait -- --suite smoke --launches 6
#   ci/cluster/slurm.sh tune 2 out --wait -- --vary workers=0,1,2 -- python train.py --workers {workers}
#
# With --wait it ends when the last job does, with its verdict and exit code. The merge runs whatever became of the
# tasks, so that it can name those that were lost. The same command again submits what is missing alone; so does
# --array=3,7. ASSAY names the program where it is not the assay of PATH.
# Exit codes: 0 submitted, 2 not; with --wait those of assay, and 3 also while shards are missing.
set -eu
[ $# -ge 3 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
command -v sbatch >/dev/null || { echo "${0##*/}: needs Slurm, and there is no sbatch here" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
options=$("$here/shards.sh" begin "$0" "$@")
out=$(cd "$3" && pwd)
eval "set -- $options"

array=$("$here/shards.sh" missing "$out")
wait=
for option; do
  shift
  case $option in
    --array=*) array=${option#*=} ;;
    --array | -a*) echo "${0##*/}: $option: write it as --array=3,7" >&2; exit 2 ;;
    --wait | -W) wait=--wait ;;
    *) set -- "$@" "$option" ;;
  esac
done
[ -n "$array" ] || exec "$here/shards.sh" merge "$out"

tasks=$(sbatch --parsable --job-name=assay --exclusive --array="$array" --output="$out/task-%a.log" "$@" \
  "$here/shards.sh" run "$out") || exit 2
tasks=${tasks%%;*} # without the name of the cluster
echo "job $tasks: shards $array" >&2
rm -f "$out/merge.log"
set -- --parsable --job-name=assay-merge --ntasks=1 --dependency=afterany:"$tasks" --output="$out/merge.log" "$@" \
  "$here/shards.sh" merge "$out"
if [ -z "$wait" ]; then
  merge=$(sbatch "$@") || exit 2
  echo "job ${merge%%;*}: the verdict, in $out/merge.log" >&2
else
  status=0
  sbatch --wait "$@" >/dev/null || status=$?
  cat "$out/merge.log" || exit 2
  exit "$status"
fi
