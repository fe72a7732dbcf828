#!/bin/sh
# Usage: shards.sh begin COMMAND BUNDLE|run|tune SHARDS OUT […] | missing OUT | run OUT [INDEX] | merge OUT
# Functions that parallel.sh and slurm.sh share. OUT is a folder that every machine sees. It holds
#   command             what a shard runs, where, of which programs, and how all are merged
#   shard-INDEX.json    what a shard found: there once it is whole, so that files say what is done
#   shard-INDEX.log     what it said
#   all.json            the whole
# `run` succeeds with whatever it found, since the verdict is that of the merge: a regression is no reason to run a
# shard again. Without an INDEX it is a task of a Slurm array. Alone, so that Slurm may run a copy of this file.
set -eu

fail() { echo "${0##*/}: $1" >&2; exit 2; }

# The words as a shell reads them.
quoted() {
  for word in "$@"; do
    case $word in
      '' | *[!A-Za-z0-9_/.,:=+@%-]*) printf " '%s'" "$(printf '%s\n' "$word" | sed "s/'/'\\\\''/g")" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
}

# Writes OUT/command, and prints the words that are meant for the scheduler: those before the first --.
# Behind the second -- there are options of the merge, and where settings are tuned, the command with all its words.
begin() {  # COMMAND BUNDLE|run|tune SHARDS OUT [OPTION of the scheduler]… [-- OPTION of a shard]… [-- WORD behind them]…
  again=$(quoted "$@")
  what=$2 shards=$3 out=$4
  shift 4
  case $shards in '' | *[!0-9]* | 0*) fail "SHARDS is '$shards', must be a number from 1" ;; esac
  program=$(command -v "${ASSAY:-assay}") ||
    fail "there is no program ${ASSAY:-assay}: put assay into PATH, or set ASSAY to the path of yours"
  case $program in /*) ;; *) program=$PWD/$program ;; esac
  programs=$(cksum <"$program")
  behind=merge of_program=''
  if [ "$what" = run ]; then
    verb=run
  elif [ "$what" = tune ]; then
    verb='tune command' behind=program of_program=' --'
  else
    [ -e "$what/bundle.json" ] || fail "$what is no bundle: make one with 'assay prepare -o DIR', or write run or tune"
    verb="gate --bundle$(quoted "$(cd "$what" && pwd)")"
    programs="$programs, $(cksum <"$what/bundle.json")"
  fi
  place=scheduler of_scheduler='' of_shard='' of_merge=''
  for word in "$@"; do
    case $place.$word in
      scheduler.--) place=shard ;;
      shard.--) place=$behind ;;
      scheduler.*) of_scheduler="$of_scheduler$(quoted "$word")" ;;
      shard.*) of_shard="$of_shard$(quoted "$word")" ;;
      merge.*) of_merge="$of_merge$(quoted "$word")" ;;
      program.*) of_program="$of_program$(quoted "$word")" ;;
    esac
  done
  mkdir -p "$out"
  in_place="cd$(quoted "$PWD") &&$(quoted "$program")"
  printf '%s\n' "# $programs" "shards=$shards" "shard() { $in_place $verb$of_shard \"\$@\"$of_program; }" \
    "merge() { $in_place merge \"\$@\"$of_merge; }" >"$out/command.new"
  set -- "$out"/shard-*.json
  if [ ! -e "$1" ]; then
    mv "$out/command.new" "$out/command"
  elif cmp -s "$out/command.new" "$out/command"; then
    rm "$out/command.new"
    echo "${0##*/}: goes on in $out: what is there is not measured again" >&2
  else
    rm "$out/command.new"
    fail "$out holds shards of another command or of other programs: name a folder that is new"
  fi
  # Options of the scheduler may differ from time to time.
  printf '%s\n' "$again" >"$out/again"
  printf '%s\n' "$of_scheduler"
}

# The shards whose files are not there, as 3,7.
missing() {
  list='' index=0
  while [ "$index" -lt "$shards" ]; do
    [ -e "$out/shard-$index.json" ] || list="$list,$index"
    index=$((index + 1))
  done
  echo "${list#,}"
}

run() {  # [INDEX]
  if [ $# -gt 0 ]; then
    index=$1
    set -- --shard-index "$index"
  else
    index=${SLURM_ARRAY_TASK_ID?'is not set, and no INDEX is given'}
    set -- --shard=auto
  fi
  file=$out/shard-$index.json log=$out/shard-$index.log status=0
  [ ! -e "$file" ] || exit 0
  rm -f "$file.part"
  (shard --shard-count "$shards" "$@" -o "$file.part") >"$log" 2>&1 || status=$?
  case $status in 2 | 130) rm -f "$file.part" ;; esac # nothing was measured, or not all of it
  if [ ! -e "$file.part" ]; then
    tail -n 5 "$log" >&2
    echo "shard $index: no result, exit code $status; see $log" >&2
    [ "$status" -ne 0 ] || status=2
    exit "$status"
  fi
  mv "$file.part" "$file"
  echo "shard $index: $(tail -n 1 "$log")"
}

join() {
  rm -f "$out/all.json"
  set -- "$out"/shard-*.json
  status=0
  if [ -e "$1" ]; then
    (merge "$@" -o "$out/all.json") || status=$?
  else
    echo "${0##*/}: none of the $shards shards is there: $out/shard-*.log say why" >&2
    status=3
  fi
  [ -z "$(missing)" ] || printf 'again, for shards %s alone:%s\n' "$(missing)" "$(cat "$out/again")" >&2
  exit "$status"
}

verb=$1
shift
if [ "$verb" = begin ]; then begin "$@"; exit; fi
out=$(cd "$1" && pwd)
shift
. "$out/command"
case $verb in
  missing) missing ;;
  run) run "$@" ;;
  merge) join ;;
esac
