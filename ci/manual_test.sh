#!/bin/sh
# Usage: manual_test.sh PROGRAM
# Readers that are installed take the texts of the program without a complaint: groff and man the manual page, shells
# their completions. bash completes.
set -eu
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "manual_test: $1" >&2; exit 1; }
has() { command -v "$1" >/dev/null; }
silent() {  # COMMAND…
  "$@" >"$work/out" 2>&1 || { cat "$work/out"; fail "'$*' fails"; }
  [ ! -s "$work/out" ] || { cat "$work/out"; fail "'$*' complains"; }
}

"$program" man >"$work/assay.1"
if has groff; then silent groff -ww -man -z -Tutf8 "$work/assay.1"; fi
# Images of systems have a man that only says that there is none.
if has man && man --version | grep -q '^man '; then
  MANWIDTH=100 LC_ALL=C.UTF-8 man --warnings -l "$work/assay.1" >"$work/page" 2>"$work/warnings" || fail 'man fails'
  [ ! -s "$work/warnings" ] || { cat "$work/warnings"; fail 'man warns'; }
  grep -q -e '--merge-base' "$work/page" || fail 'the page has no --merge-base'
fi

for shell in bash zsh fish; do
  "$program" completions $shell >"$work/$shell"
  if has $shell; then silent $shell -n "$work/$shell"; fi
done
if has shellcheck; then silent shellcheck -s bash "$work/bash"; fi

completed() {  # WORD…: what bash makes of the last one
  bash -c 'set -eu; complete() { :; }; . "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _assay; echo "${COMPREPLY[*]-}"' \
    "$work/bash" "$program" "$@"
}
expect() {  # EXPECTED WORD…
  expected=$1
  shift
  [ "$(completed "$@")" = "$expected" ] || fail "bash completes '$*' to '$(completed "$@")', expected '$expected'"
}
if has bash; then
  expect 'record report reanalyze' re
  expect 'threads threshold' tune th
  expect --merge-base gate --me
  expect 'warn fail' gate --on-undecided ''
  expect fail gate --base main --on-undecided = f
  expect --run-seconds tune loader --run
  expect '' gate --base ''
fi
