#!/bin/sh
# Usage: gate.sh [BASE] [OPTION OF `assay gate`]...
# Holds HEAD against what it branched from, in the repository where this is called, whose assay.json says how a revision
# is built. The same by hand, under GitHub Actions and under GitLab CI. BASE is a branch, a tag or a commit; without it,
# that of the pull or merge request. The folder ASSAY_REPORT (default assay-report) gets
#   comment.md     for the request, at most 60,000 bytes; the summary of a job on GitHub has the same rows
#   junit.xml      a test case per trial
#   quality.json   what fails, beside the lines of a merge request of GitLab
#   gate.json      all samples, for `assay reanalyze`
#   pull_request   the number of the request, on GitHub
# ASSAY is the program to ask, such as build/kernels. Without it that is assay, which is installed from ASSAY_PACKAGE, a
# .deb or .tar.gz, where there is none: a file, or the https address of a release's with its checksum in ASSAY_SHA256.
# Exit codes are those of `assay gate`: 0 passed, 1 found, 2 unusable, 3 undecided, 4 a kernel crashed or hung.
set -eu

fail() {  # WHAT REMEDY
  printf 'gate.sh: %s\n  %s\n' "$1" "$2" >&2
  exit 2
}

base=
if [ $# -gt 0 ]; then
  case $1 in
    '') fail 'BASE is empty: is a variable unset?' 'name a branch, a tag or a commit' ;;
    -*) ;;
    *) base=$1; shift ;;
  esac
fi
if [ -z "$base" ]; then
  if [ -n "${GITHUB_BASE_REF-}" ]; then
    base=origin/$GITHUB_BASE_REF
  elif [ -n "${CI_MERGE_REQUEST_DIFF_BASE_SHA-}" ]; then
    base=$CI_MERGE_REQUEST_DIFF_BASE_SHA
  else
    fail 'there is no base: neither GITHUB_BASE_REF nor CI_MERGE_REQUEST_DIFF_BASE_SHA is set' \
      'name one, as in: gate.sh main'
  fi
fi

shallow=$(git rev-parse --is-shallow-repository) ||
  fail 'git does not work here' 'call this in a checkout of the project'
[ "$shallow" = false ] ||
  fail 'the history was cut off, so that what HEAD branched from is missing' \
    'fetch all of it: fetch-depth: 0 for actions/checkout, GIT_DEPTH: 0 in GitLab CI, by hand git fetch --unshallow'
git rev-parse --verify --quiet "$base^{commit}" >/dev/null ||
  fail "$base is no revision of this repository" 'see git branch --all, or fetch it: git fetch origin'

unpacked=
trap '[ -z "$unpacked" ] || rm -rf "$unpacked"' EXIT
fetched() {  # ADDRESS: to a file of its name in $unpacked
  [ -n "${ASSAY_SHA256-}" ] || fail "ASSAY_SHA256: the checksum of $1 is missing" 'SHA256SUMS of that release has it'
  curl -fsSLo "$unpacked/${1##*/}" "$1" || fail "ASSAY_PACKAGE: $1 cannot be fetched" 'see above'
  echo "$ASSAY_SHA256  $unpacked/${1##*/}" | sha256sum -c >/dev/null 2>&1 ||
    fail "ASSAY_SHA256: ${1##*/} has another checksum" 'SHA256SUMS of that release has the right one'
}
install_package() {  # FILE OR ADDRESS
  unpacked=$(mktemp -d)
  case $1 in https://*) fetched "$1"; set -- "$unpacked/${1##*/}" ;; esac
  [ -f "$1" ] || fail "ASSAY_PACKAGE: $1 is no file" 'name a package of a release, or of cpack in a build of assay'
  case $1 in
    *.deb)
      as_root=
      [ "$(id -u)" -eq 0 ] || as_root=sudo
      # apt-get takes what holds no slash for the name of a package.
      case $1 in */*) file=$1 ;; *) file=./$1 ;; esac
      if ! $as_root apt-get update -q || ! $as_root apt-get install -q -y "$file"; then
        fail "ASSAY_PACKAGE: $1 cannot be installed" 'see above; a package suits the system that it was built on'
      fi ;;
    *.tar.gz)
      tar -xzf "$1" -C "$unpacked" --strip-components=1 || fail "ASSAY_PACKAGE: $1 cannot be unpacked" 'make it anew'
      export PATH="$unpacked/bin:$PATH" CMAKE_PREFIX_PATH="$unpacked${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}" ;;
    *) fail "ASSAY_PACKAGE: $1 is neither a .deb nor a .tar.gz" 'name a package that cpack made in a build of assay' ;;
  esac
}
if [ -n "${ASSAY-}" ]; then
  command -v "$ASSAY" >/dev/null || fail "ASSAY: $ASSAY is no program" 'build it first, or unset ASSAY'
elif ! command -v assay >/dev/null; then
  [ -n "${ASSAY_PACKAGE-}" ] ||
    fail 'assay is not installed' 'put it into PATH, name a program in ASSAY, or a package of cpack in ASSAY_PACKAGE'
  install_package "$ASSAY_PACKAGE"
fi

report=${ASSAY_REPORT:-assay-report}
mkdir -p "$report"
rm -f "$report/comment.md" "$report/junit.xml" "$report/quality.json" "$report/gate.json" "$report/pull_request"
case ${GITHUB_REF-} in
  refs/pull/*/merge) number=${GITHUB_REF#refs/pull/}; echo "${number%/merge}" >"$report/pull_request" ;;
esac

status=0
"${ASSAY:-assay}" gate --base "$base" --merge-base --md "$report/comment.md" --junit "$report/junit.xml" --code-quality "$report/quality.json" \
  -o "$report/gate.json" "$@" || status=$?
# Who waits for a comment is told that there is no verdict.
if [ ! -s "$report/comment.md" ]; then
  echo "### No verdict: \`assay gate\` ended with exit code $status, and the log of the job says why" >"$report/comment.md"
  [ -z "${GITHUB_STEP_SUMMARY-}" ] || cat "$report/comment.md" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$status"
