#!/bin/sh
# Usage: ci/reports.sh PROGRAM   Makes the committed reports again that are made of committed files, and lists those that
# only a new measurement makes. Exit codes: 0 all were made, 2 one could not be made.
set -eu
[ $# -eq 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
program=$(realpath "$1")
cd "$(dirname "$0")/.."
evidence=reports/amd_epyc_25_1_2c_avx2/claims
job=harness/training/job/data/adr_003.json

# assay predict ends with 1 where figures contradict each other, as those of the record do: that is what the page shows.
made() {
  code=0
  "$@" >/dev/null || code=$?
  [ "$code" -le 1 ] || { echo "failed with $code: $*" >&2; exit 2; }
}

made "$program" report claims $evidence/published.json $evidence/training_loop.json $evidence/lenet_mnist.json \
  $evidence/known_bad.json $evidence/epochs.jsonl $job --md reports/claims.md
echo "made reports/claims.md of $evidence and $job"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$(dirname $job)" && made "$program" predict adr_003.json --md "$work/adr_003.md")
{
  sed -n 1,2p "$work/adr_003.md"
  cat <<END
\`\`\`sh
assay predict $job --md adr_003.md
\`\`\`

A published record of a tuning decision, typed in as it stands. Exit code 1: its figures contradict each other.

END
  sed -n '3,$p' "$work/adr_003.md"
} >"$work/page.md"
cp "$work/page.md" reports/public/adr_003.md
echo "made reports/public/adr_003.md of $job"

made "$program" report $evidence/lenet_mnist.json --svg "$work/pictures"
"$program" report $evidence/lenet_mnist.json >${evidence%/*}/lenet_mnist.md
cp "$work/pictures/roofline_plot.svg" "${evidence%/*}/lenet_mnist_roofline.svg"
echo "made ${evidence%/*}/lenet_mnist.md and its roofline of $evidence/lenet_mnist.json"

cat <<END
not made, since only a measurement makes them, by the commands in reports/README.md:
$(ls -d reports/*/*.md reports/*.md | grep -v -e README -e reports/claims.md -e adr_003 -e lenet_mnist | sed 's/^/  /')
END
