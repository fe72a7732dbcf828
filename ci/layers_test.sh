#!/bin/sh
# Plants one fault per rule of layers.sh in a copy of the tree and demands a failure that names place and rule.
set -eu
ci=$(cd "$(dirname "$0")" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$ci/.."
cp -R harness reference kernels suites ci "$copy"

fail() { echo "layers_test: $1" >&2; exit 1; }

# FILE RULE LINE: rejected, naming FILE:1 and RULE. The file is new, so that nothing else can be wrong with it.
rejects() {
  mkdir -p "$copy/$(dirname "$1")"
  printf '%s\n' "$3" >"$copy/$1"
  if found=$("$ci/layers.sh" "$copy"); then fail "$1 may say $3, against the rule: $2"; fi
  case $found in
    "$1:1:"*"$2"*) ;;
    *) fail "$1 with $3 is rejected without naming $1:1 and '$2': $found" ;;
  esac
  rm "$copy/$1"
}

accepts() {  # FILE LINE
  mkdir -p "$copy/$(dirname "$1")"
  [ ! -e "$copy/$1" ] || mv "$copy/$1" "$copy/kept"
  printf '%s\n' "$2" >"$copy/$1"
  found=$("$ci/layers.sh" "$copy") || fail "$1 may not say $2: $found"
  rm "$copy/$1"
  [ ! -e "$copy/kept" ] || mv "$copy/kept" "$copy/$1"
}

found=$("$ci/layers.sh" "$copy") || fail "the tree itself is rejected: $found"
# From here on only planted lines decide: stages follow from the names of files, which are quick to read when empty.
find "$copy" -type f | while read -r file; do : >"$file"; done

rejects harness/core/check/planted.cpp 'no hot path' '#include "assay/ops/gemm.hpp"'
rejects harness/core/check/planted.cpp 'no hot path' '#include "kernels/tiers.hpp"'
rejects harness/core/check/planted_test.cpp 'no hot path' '#include "reference/gemm.hpp"'
rejects harness/core/check/planted.cpp 'no hot path' '#include <cblas.h>'
rejects reference/planted.cpp 'the reference includes' '#include <hwy/highway.h>'
rejects reference/planted.cpp 'the reference includes' '#include "hwy/highway.h"'
rejects reference/planted.cpp 'the reference includes' '#include <cblas.h>'
rejects reference/planted.cpp 'the reference includes' '  #  include <omp.h>'
accepts reference/planted.cpp '#include <sys/mman.h>'
rejects reference/include/assay/ops/planted.hpp 'a public header includes' '#include <sys/mman.h>'
rejects reference/planted.cpp 'the reference includes' '#include <fmt/format.h>'
rejects reference/planted.cpp 'the reference includes' '#include <nlohmann/json.hpp>'
rejects reference/planted.cpp 'the reference includes' '#include <gtest/gtest.h>'
rejects reference/planted.cpp 'for the harness alone' '#include "assay/detail/typed.hpp"'
rejects kernels/gemm/planted.cpp 'kernels include' '#include <fmt/format.h>'
rejects kernels/gemm/planted.cpp 'kernels include' '#include <nlohmann/json.hpp>'
rejects kernels/gemm/planted.cpp 'kernels include' '#include "bench/measure/sampler.hpp"'
rejects kernels/gemm/planted.cpp 'for the harness alone' '#include "assay/detail/typed.hpp"'
rejects harness/include/assay/planted.hpp 'a public header includes' '#include <fmt/format.h>'
rejects harness/include/assay/planted.hpp 'a public header includes' '#include <nlohmann/json.hpp>'
rejects harness/include/assay/compare_planted.hpp 'a public header includes' '#include <sys/stat.h>'
rejects reference/include/assay/ops/planted.hpp 'a public header includes' '#include <sys/stat.h>'
rejects harness/bench/measure/sampler.hpp 'by .cpp files only' '#include <benchmark/benchmark.h>'
rejects harness/app/verbs.hpp 'by .cpp files only' '#include <CLI/CLI.hpp>'
rejects harness/app/planted_verb.cpp 'verbs print by print_visible()' '  fmt::print("{}", name);'
accepts harness/app/output.cpp '  fmt::print("{}", visible(text));'
rejects harness/app/option_planted.cpp 'CLI11 is included by' '#include <CLI/CLI.hpp>'
rejects harness/bench/measure/planted.cpp 'Google Benchmark is included by' '#include <benchmark/benchmark.h>'
rejects kernels/gemm/planted.cpp 'Google Benchmark is included by' '#include <benchmark/benchmark.h>'
rejects harness/core/plan/planted.cpp 'nlohmann-json is included by' '#include <nlohmann/json.hpp>'
rejects harness/core/json/planted.hpp 'nlohmann-json is included by' '#include <nlohmann/json.hpp>'
rejects harness/bench/measure/planted_test.cpp 'nlohmann-json is included by' '#include <nlohmann/json.hpp>'
rejects harness/bench/gate/planted.cpp 'bench includes no training' '#include "training/job/planted.hpp"'
rejects harness/training/job/planted.cpp 'training includes no bench' '#include "bench/compare/planted.hpp"'
rejects harness/training/tune/planted.cpp 'training includes no bench' '#include "assay/results.hpp"'
rejects harness/training/tune/planted_test.cpp 'training includes no bench' '#include "assay/compare.hpp"'
rejects harness/core/files/planted.cpp 'core includes no bench' '#include "assay/results.hpp"'
rejects harness/core/files/planted.cpp 'core includes no training' '#include "training/job/planted.hpp"'
rejects harness/core/files/planted.cpp 'core includes no app' '#include "app/planted.hpp"'
rejects harness/bench/report/planted.cpp 'bench includes no app' '#include "app/planted.hpp"'
rejects harness/training/report/planted.cpp 'training includes no app' '#include "app/planted.hpp"'
rejects harness/core/registry/planted.cpp 'core/registry is below core/machine' '#include "assay/machine.hpp"'
rejects harness/core/machine/planted.cpp 'core/machine is below core/plan' '#include "assay/suite.hpp"'
rejects harness/core/plan/planted.cpp 'core/plan is below core/check' '#include "core/check/planted.hpp"'
rejects harness/bench/measure/planted.cpp 'bench/measure is below bench/compare' '#include "assay/compare.hpp"'
rejects harness/bench/gate/planted.cpp 'bench/gate is below bench/report' '#include "assay/report.hpp"'
rejects harness/training/job/planted.cpp 'training/job is below training/epoch' '#include "training/epoch/planted.hpp"'
rejects harness/include/assay/machine.hpp 'core includes no bench' '#include "assay/compare.hpp"'
rejects harness/core/statistics/planted.cpp 'statistics is pure' '#include "assay/operation.hpp"'
rejects harness/core/text/planted.cpp 'core/text is below core/json' '#include "core/json/planted.hpp"'
rejects harness/core/nowhere/planted.cpp 'is unknown' '#include "assay/error.hpp"'
rejects harness/app/planted.cpp 'is unknown' '#include "assay/of_no_room.hpp"'
rejects harness/app/planted.cpp 'is unknown' '#include "compare/planted.hpp"'
rejects kernels/gemm/utils.hpp 'named for its purpose' ''
rejects harness/core/check/helpers_test.cpp 'named for its purpose' ''

accepts harness/bench/measure/sampler.cpp '#include <benchmark/benchmark.h>'
accepts ci/end_to_end/foreign_planted.cpp '#include <benchmark/benchmark.h>'
rejects ci/end_to_end/planted_too.cpp 'sampler.cpp only' '#include <benchmark/benchmark.h>'
accepts harness/core/json/json.cpp '#include <nlohmann/json.hpp>'
accepts harness/core/json/planted_test.cpp '#include <nlohmann/json.hpp>'
accepts harness/app/option_parser.cpp '#include <CLI/CLI.hpp>'
accepts harness/bench/exchange/planted.cpp '#include "assay/compare.hpp"'
accepts harness/bench/measure/planted_test.cpp '#include "assay/compare.hpp"'
accepts harness/app/planted.cpp '#include "training/epoch/planted.hpp"'
accepts harness/training/tune/planted.cpp '#include "core/text/planted.hpp"'
accepts reference/planted_test.cpp '#include <gmock/gmock.h>'
accepts kernels/gemm/planted.cpp '#include "hwy/highway.h"'
accepts kernels/gemm/planted.cpp '#include <cblas.h>'
accepts kernels/gemm/planted.cpp '#include "gemm/reordered.cpp"'
accepts harness/core/statistics/planted.cpp '#include "assay/random.hpp"'
accepts harness/core/machine/planted.cpp '#include "core/text/figures.hpp"'
accepts harness/core/check/planted.cpp '// #include "assay/ops/gemm.hpp"'
