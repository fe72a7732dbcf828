#!/bin/sh
# Usage: cluster_test.sh parallel|slurm PROGRAM
# Divides a gate of a kernel that is wrong (end_to_end/planted.cpp) among jobs of GNU parallel, or of a Slurm of one node
# that it starts for itself: a verdict that needs no time to be measured. A shard is lost, which has to be told with the command that repairs it. That command, as
# printed, has to end with the verdict of the gate that was never divided. No daemon outlives the test.
set -eu
scheduler=$1 program=$2
PATH=$PATH:/usr/sbin:/sbin
here=$(cd "$(dirname "$0")" && pwd)

# Ends whatever runs in the cluster of a folder, which its environment names, and removes the folder.
end_cluster() {  # FOLDER
  for signal in TERM KILL; do
    for process in $(grep -slzxF "SLURM_CONF=$1/slurm.conf" /proc/[0-9]*/environ | tr -dc '0-9\n'); do
      kill -$signal "$process" 2>/dev/null || :
    done
    [ $signal = KILL ] || sleep 0.5
  done
  rm -rf "$1"
}
# In a process of its own, since this shell may be killed.
if [ "$scheduler" = --end-cluster ]; then
  tail --pid="$3" --sleep-interval=0.2 -f /dev/null
  [ ! -d "$2" ] || end_cluster "$2"
  exit
fi

skip() { echo "cluster_test: skipped: $1" >&2; exit 77; }
case $scheduler in
  parallel)
    parallel --version 2>/dev/null | grep -q '^GNU parallel' || skip 'there is no GNU parallel here' ;;
  slurm)
    for needed in munged slurmctld slurmd sbatch scancel sinfo; do
      command -v $needed >/dev/null || skip "there is no $needed here"
    done ;;
esac

work=$(mktemp -d)
chmod a+x "$work" # munged wants to be reached by all
setsid --fork "$0" --end-cluster "$work" $$ </dev/null >/dev/null 2>&1
trap 'end_cluster "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"

fail() {
  echo "cluster_test: $1" >&2
  tail -n 20 said ./*.log 'an out'/*.log >&2 || :
  exit 1
}
within() {  # SECONDS WHAT COMMAND…
  tries=$(($1 * 10)) what=$2
  shift 2
  until "$@"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || fail "waits too long for $what"
    sleep 0.1
  done
}
says() { grep -q -e "$1" said || fail "does not say '$1'"; }
exits() {  # EXPECTED COMMAND…: output and errors to the file `said`
  expected=$1 status=0
  shift
  "$@" >said 2>&1 || status=$?
  [ "$status" -eq "$expected" ] || fail "'$*' exits $status, expected $expected: $(cat said)"
}

# A free port, and the one behind it.
port=$((20000 + $$ % 20000))
is_taken() { grep -qi ":$(printf %04X "$1") " /proc/net/tcp /proc/net/tcp6 2>/dev/null; }
while is_taken $port || is_taken $((port + 1)); do port=$((port + 2)); done

start_slurm() {
  export SLURM_CONF="$work/slurm.conf"
  node=$(uname -n) user=$(id -un)
  node=${node%%.*}
  mkdir state spool
  cat >slurm.conf <<CONF
ClusterName=assay
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
SlurmUser=$user
SlurmdUser=$user
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=1
SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_interval=1
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=bench Nodes=$node Default=YES State=UP
CONF
  # No control group is touched. Up to 22.05 that cannot be asked for, and the first version of them is left alone.
  case $(slurmd -V) in
    *\ 2[0-2].*) echo 'CgroupPlugin=cgroup/v1' >cgroup.conf ;;
    *) echo 'CgroupPlugin=disabled' >cgroup.conf ;;
  esac
  head -c 128 /dev/urandom >munge.key
  chmod 400 munge.key
  munged -F --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munge.pid" \
    --log-file="$work/munge.log" --seed-file="$work/munge.seed" >munged.log 2>&1 &
  within 10 'munged' test -S munge.socket
  slurmctld -D -f slurm.conf >controller.log 2>&1 &
  slurmd -D -f slurm.conf >node.log 2>&1 &
  within 30 'a node that is idle' is_idle
}
is_idle() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }

# The program, which keeps a list of the shards that it was started for, and loses shard 1 while there is the file
# `lossy`: in Slurm by not ending, so that it can be cancelled, otherwise by failing.
cat >assay <<END_OF_PROGRAM
#!/bin/sh
case "\$1 \$* \${SLURM_ARRAY_TASK_ID-}" in
  gate*--shard-index\ 1* | gate*--shard=auto*1) index=1 ;;
  *) index=0 ;;
esac
[ "\$1" != gate ] || echo \$index >>'$work/started'
if [ \$index = 1 ] && [ -e '$work/lossy' ]; then
  [ $scheduler = slurm ] || exit 2
  : >'$work/running'
  exec sleep 600
fi
exec '$program' "\$@"
END_OF_PROGRAM
chmod +x assay
export ASSAY="$work/assay" ASSAY_FAULT=wrong
cat >pair.json <<'END_OF_SUITE'
{"schema": 1, "name": "pair", "about": "end to end", "cases": [
  {"op": "gemm", "m": 24, "n": 24, "k": 25}, {"op": "gemm", "m": 24, "n": 24, "k": 27}]}
END_OF_SUITE
selection='--suite pair.json --identical -k gemm/planted'
# A bundle is read by every shard, and the program is large where it is sanitized.
printf "#!/bin/sh\nexec '%s' \"\$@\"\n" "$program" >side
chmod +x side
exits 0 "$program" prepare --base ./side --head ./side -o 'a bundle'
# shellcheck disable=SC2086
exits 1 "$program" gate --bundle 'a bundle' $selection
verdict=$(tail -n 1 said)
says '^WRONG: gemm/planted of the head disagrees'
exits 0 "$program" run --suite pair.json -k gemm/packed -o before.json

# Ends with the exit code of the merge, and what it said.
merged() {  # EXPECTED COMMAND…
  if [ "$scheduler" = parallel ]; then exits "$@"; return; fi
  of_merge=$1
  shift
  exits 0 "$@"
  if [ -e lossy ]; then
    within 120 'the task that is to be lost' test -e running
    scancel "$(sed -n 's/^job \([0-9]*\): shards .*/\1/p' said)_1"
  fi
  merge=$(sed -n 's/^job \([0-9]*\): the verdict.*/\1/p' said)
  within 120 'the merge' is_over "$merge"
  scontrol show job "$merge" | grep -q "ExitCode=$of_merge:0" || fail "$(scontrol show job "$merge")"
  cp 'an out/merge.log' said
}
is_over() { scontrol show job "$1" | grep -qE 'JobState=(COMPLETED|FAILED) '; }

: >lossy
[ "$scheduler" = parallel ] || start_slurm
# shellcheck disable=SC2086
merged 3 "$here/$scheduler.sh" 'a bundle' 2 'an out' -- $selection --shard-durations before.json -- --md comment.md
if [ "$scheduler" = parallel ]; then tries=2; else tries=1; fi
says 'lacks shard 1 of 0 to 1'
says ' --shard-count 2 --shard-index 1 --shard-durations before.json -o .*/shard-.1.json'
says ' --array=1$'
[ ! -e 'an out/all.json' ] || fail 'merges a part'
[ "$(sort started | tr '\n' ' ')" = "0 $(yes 1 | head -n $tries | tr '\n' ' ')" ] || fail "starts $(cat started)"

rm lossy
again=$(sed -n 's/^again, for shards 1 alone: //p' said)
merged 1 sh -c "$again"
[ "$(tail -n 1 said)" = "$verdict" ] || fail "ends with '$(tail -n 1 said)', and in one go with '$verdict'"
[ "$(grep -c 0 started)" -eq 1 ] || fail 'runs again what is there'
grep -q planted comment.md || fail 'the merge does not write its comment'
# Once more: all is there, and nothing runs.
: >started
exits 1 sh -c "$again"
[ ! -s started ] || fail 'runs again what is there'
# The folder is not taken for another gate.
exits 2 "$here/$scheduler.sh" 'a bundle' 3 'an out' -- --suite pair.json
says 'holds shards of another command'
echo '# another program' >>side
exits 0 "$program" prepare --base ./side --head ./side -o 'a bundle'
exits 2 sh -c "$again"
says 'or of other programs'

# A run, at first of a suite that does not exist.
set --
if [ "$scheduler" = parallel ]; then
  exits 3 "$here/parallel.sh" run 2 'a run' -- --suite none.json
  says 'none of the 2 shards is there'
  says 'none.json: cannot be read'
else
  set -- --wait
fi
exits 1 "$program" run --suite pair.json -k planted
verdict=$(tail -n 1 said)
exits 1 "$here/$scheduler.sh" run 2 'a run' "$@" -- --suite pair.json -k planted
[ "$(tail -n 1 said)" = "$verdict" ] || fail "ends with '$(tail -n 1 said)', and in one go with '$verdict'"

# Settings of a command whose steps are as long as it says: one of two shards has the better one.
set --
[ "$scheduler" = parallel ] || set -- --wait
# shellcheck disable=SC2016
exits 0 "$here/$scheduler.sh" tune 2 'a tune' "$@" -- --vary w=20,30,10 --budget 14 --match 'step: ([0-9.]+) ms' \
  -- sh -c 'while :; do echo "step: $1 ms"; sleep 0.01; done' sh '{w}'
says 'Take w=10: 2.00x faster'
[ -e 'a tune/all.json' ] || fail 'merges no record'
