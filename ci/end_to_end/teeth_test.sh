#!/bin/sh
# Usage: teeth_test.sh ASSAY TEETH [LIBRARY]
# Kernels that are wrong or cheat on purpose are in the program TEETH alone, and ASSAY starts that one for them.
set -eu
assay=$1
teeth=$2
fail() { echo "teeth_test: $1" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# A registration names its source, so that a linked source leaves its path.
has_known() { grep -aq 'kernels/known_' "$1"; }
has_known "$teeth" || fail "finds no kernel in $teeth that is kept to be rejected: this test would find none anywhere"
for file in "$assay" "${3:-$assay}"; do
  if has_known "$file"; then fail "$file holds $(grep -ao 'kernels/known_[a-z0-9_/]*' "$file" | head -n 1)"; fi
done

"$assay" list layernorm >"$work/list"
if grep -q KNOWN "$work/list"; then fail "'list' shows $(grep KNOWN "$work/list" | head -n 1)"; fi
"$assay" list --known layernorm >"$work/known"
grep -q 'sum_of_squares *KNOWN BAD' "$work/known" || fail "'list --known' does not show layernorm/sum_of_squares"
if grep -q streaming "$work/known"; then fail "'list --known' shows a variant that one would use"; fi
"$assay" check --known-bad -k '^layernorm/sum_of_squares' >"$work/bad" || fail "'check --known-bad' exits with $?"
tail -n 1 "$work/bad" | grep -q 'REJECTED: all 1 known-bad variant' || fail "'check --known-bad' ends with: $(tail -n 1 "$work/bad")"

# A copy that stands alone.
ln "$assay" "$work/assay" 2>/dev/null || cp "$assay" "$work/assay"
alone() {
  status=0
  PATH=/usr/bin:/bin "$work/assay" "$@" >"$work/out" 2>"$work/errors" || status=$?
  [ $status -eq 2 ] || fail "'$*' exits with $status without assay-teeth, expected 2"
  grep -q 'needs the program assay-teeth' "$work/errors" && grep -q -e '--component teeth' "$work/errors" ||
    fail "'$*' does not say how to get assay-teeth: $(cat "$work/errors")"
}
alone check --known-bad
alone check --known-cheats
alone list --known

# One of another commit has another judge.
status=0
ASSAY_TEETH_OF=another "$teeth" check --known-bad -k sum_of_squares >"$work/out" 2>"$work/errors" || status=$?
[ $status -eq 2 ] && grep -q 'of another' "$work/errors" ||
  fail "a stale assay-teeth exits with $status and says: $(cat "$work/errors")"
