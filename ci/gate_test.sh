#!/bin/sh
# Runs gate.sh in repositories of its own, with an assay that only pretends, and demands what its head promises.
set -eu
command -v git >/dev/null || exit 77
gate=$(cd "$(dirname "$0")" && pwd)/gate.sh
work="$(mktemp -d)/with space"
trap 'rm -rf "${work%/*}"' EXIT
mkdir -p "$work"
export GIT_CEILING_DIRECTORIES="$work"
unset GITHUB_BASE_REF GITHUB_REF GITHUB_STEP_SUMMARY CI_MERGE_REQUEST_DIFF_BASE_SHA ASSAY ASSAY_PACKAGE ASSAY_REPORT

git() { command git -c user.name=a -c user.email=a@b -c commit.gpgsign=false -c init.defaultBranch=main "$@"; }
# Says what it was called with, and leaves a comment unless told not to.
cat >"$work/assay" <<'END_OF_PROGRAM'
#!/bin/sh
printf '%s\n' "$@"
while [ $# -gt 0 ]; do
  case $1 in --md) [ -n "${NO_COMMENT-}" ] || echo found >"$2" ;; esac
  shift
done
exit "${STATUS-0}"
END_OF_PROGRAM
chmod +x "$work/assay"

git init -q "$work/whole"
git -C "$work/whole" commit -q --allow-empty -m first
git -C "$work/whole" commit -q --allow-empty -m second
git clone -q --depth 1 "file://$work/whole" "$work/cut"
git clone -q "$work/whole" "$work/clone"
cd "$work/clone"

usual_path=$PATH
fail() { echo "gate_test: $1: $(cat "$work/out")" >&2; exit 1; }
run() {  # EXPECTED_EXIT [VARIABLE=VALUE]… "$gate" ARGUMENT…
  expected=$1 status=0
  shift
  env "$@" >"$work/out" 2>&1 || status=$?
  [ "$status" -eq "$expected" ] || fail "'$*' exits $status, expected $expected"
}
says() { grep -q -e "$1" "$work/out" || fail "does not say '$1'"; }

run 2 ASSAY=build/kernels "$gate" HEAD~1
says 'ASSAY: build/kernels is no program'
# An assay that is installed is used.
if ! command -v assay >/dev/null; then
  run 2 "$gate" HEAD~1
  says 'assay is not installed'
  mkdir -p "$work/package/assay-1/bin"
  cp "$work/assay" "$work/package/assay-1/bin/"
  tar -czf "$work/package.tar.gz" -C "$work/package" assay-1
  run 0 ASSAY_PACKAGE="$work/package.tar.gz" "$gate" HEAD~1
  says '^HEAD~1$'
  # A package of a release comes by its address, and only with its checksum.
  mkdir "$work/curl"
  printf '#!/bin/sh\ncp "%s" "$2"\n' "$work/package.tar.gz" >"$work/curl/curl"
  chmod +x "$work/curl/curl"
  address=https://releases.example/v1/assay-1-linux-x86_64.tar.gz
  sum=$(sha256sum <"$work/package.tar.gz")
  run 0 PATH="$work/curl:$PATH" ASSAY_PACKAGE=$address ASSAY_SHA256="${sum%% *}" "$gate" HEAD~1
  says '^HEAD~1$'
  run 2 PATH="$work/curl:$PATH" ASSAY_PACKAGE=$address ASSAY_SHA256=0123 "$gate" HEAD~1
  says 'has another checksum'
  run 2 PATH="$work/curl:$PATH" ASSAY_PACKAGE=$address "$gate" HEAD~1
  says 'ASSAY_SHA256: the checksum of https://releases.example'
  run 2 ASSAY_PACKAGE="$work/none.deb" "$gate" HEAD~1
  says 'ASSAY_PACKAGE: .*none.deb is no file'
  run 2 ASSAY_PACKAGE="$work/assay" "$gate" HEAD~1
  says 'is neither a .deb nor a .tar.gz'
fi

export PATH="$work:$usual_path"
run 2 "$gate"
says 'there is no base'
run 2 "$gate" ''
says 'is a variable unset?'
run 2 "$gate" nowhere
says 'nowhere is no revision'
run 0 "$gate" HEAD~1 --budget 60
[ "$(tr '\n' ' ' <"$work/out")" = 'gate --base HEAD~1 --merge-base --md assay-report/comment.md --junit assay-report/junit.xml --code-quality assay-report/quality.json -o assay-report/gate.json --budget 60 ' ] ||
  fail 'asks for something else'
run 0 GITHUB_BASE_REF=main GITHUB_REF=refs/pull/12/merge "$gate" --budget 60
says '^origin/main$'
[ "$(cat assay-report/pull_request)" = 12 ] || fail 'does not keep the number of the request'
before=$(git rev-parse HEAD~1)
run 0 CI_MERGE_REQUEST_DIFF_BASE_SHA="$before" ASSAY_REPORT="$work/a report" "$gate"
says "^$before\$"
[ "$(cat "$work/a report/comment.md")" = found ] || fail 'leaves no comment'
[ ! -e "$work/a report/pull_request" ] || fail 'makes up the number of a request'

for code in 0 1 2 3 4 77; do run $code STATUS=$code "$gate" HEAD~1; done
echo 'of a former run' >assay-report/comment.md
run 2 NO_COMMENT=1 STATUS=2 GITHUB_STEP_SUMMARY="$work/summary" "$gate" HEAD~1
grep -q 'No verdict.* exit code 2' assay-report/comment.md || fail 'leaves a comment of a former run'
grep -q 'No verdict' "$work/summary" || fail 'leaves the summary empty'

cd "$work/cut"
run 2 "$gate" HEAD
says 'fetch-depth: 0'
cd "$work"
run 2 "$gate" HEAD
says 'git does not work here'
