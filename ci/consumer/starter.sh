#!/bin/sh
# Usage: starter.sh PREFIX WORK
# Builds and checks the project that `assay init` of the installation PREFIX makes, and holds it against its own history
# as its user would: an edit of a comment measures nothing, a slower kernel is named, and so it is by a bundle that was prepared, and
# by gate.sh.
set -eu
prefix=$1 work=$2
command -v git >/dev/null || { echo 'starter: skipped, since there is no git here' >&2; exit 0; }
export GIT_CEILING_DIRECTORIES="$work" CMAKE_PREFIX_PATH="$prefix"
project="$work/a starter"

fail() { echo "starter: $1" >&2; tail -n 20 "$work/starter.out" >&2; exit 1; }
git() { command git -c user.name=a -c user.email=a@b -c commit.gpgsign=false -c init.defaultBranch=main "$@"; }
run() {  # EXPECTED_EXIT COMMAND…: output and errors to starter.out
  expected=$1 status=0
  shift
  "$@" >"$work/starter.out" 2>&1 || status=$?
  [ "$status" -eq "$expected" ] || fail "'$*' exits $status, expected $expected"
}
says() { grep -q -e "$1" "$work/starter.out" || fail "does not say '$1'"; }
build() { run 0 cmake --build build; }

run 0 "$prefix/bin/assay" init "$project"
cd "$project"
git init -q .
git add -A
git commit -q -m 'a first kernel'
run 0 cmake -S . -B build -G Ninja
build
run 0 build/kernels check rmsnorm
says four_sums
run 0 build/kernels run kernels.json
! grep -qi epoch "$work/starter.out" || fail 'predicts an epoch of placeholders'

sed -i 's/Replace it with/Replace it by/' kernel.cpp
git commit -q -a -m 'a comment'
build
run 0 build/kernels gate --base HEAD~1
says 'identical'
[ -z "$(git status --porcelain)" ] || fail "leaves files that git sees: $(git status --porcelain)"

# Every sum is taken twice.
sed -i 's/for (Index j = 0; j < p.cols; ++j) sums/for (Index j = 0; j < 2 * p.cols; ++j) sums/; s/x\[j\] \* x\[j\];/x[j % p.cols] * x[j % p.cols] \/ 2;/' kernel.cpp
git commit -q -a -m 'a slower kernel'
build
run 0 build/kernels check rmsnorm
run 1 build/kernels gate --base HEAD~1 --budget 60 --layouts 2
says 'rmsnorm/four_sums'

run 0 build/kernels prepare --base HEAD~1 --layouts 2 -o "$work/a bundle"
run 1 "$prefix/bin/assay" gate --bundle "$work/a bundle" --budget 60
says 'rmsnorm/four_sums'

# The program that is installed builds both sides, as a CI job asks it to.
run 1 env ASSAY="$prefix/bin/assay" ASSAY_REPORT="$work/report" \
  "$prefix/share/assay/ci/gate.sh" HEAD~1 --budget 60 --layouts 2
says 'rmsnorm/four_sums'
grep -q '<failure' "$work/report/junit.xml" || fail 'junit.xml has no failure'
grep -q 'rmsnorm/four_sums' "$work/report/comment.md" || fail 'comment.md does not name what is slower'
