#!/bin/sh
# Usage: project_test.sh ASSAY
# Gates of a CMake project that knows nothing of assay, by its own history: a program of Google Benchmark that wants
# arguments, then a command. An edit of a comment is not slower and a planted half more is, also from a bundle in shards
# and by gate.sh; the base is built like the head, what differs is named, and a base that builds no more is given.
set -eu
assay=$1
for program in git cmake; do command -v $program >/dev/null || exit 77; done
gate=$(cd "$(dirname "$0")/.." && pwd)/gate.sh
work=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$work"' EXIT
export GIT_CEILING_DIRECTORIES="$work" XDG_CACHE_HOME="$work/cache"
unset GITHUB_BASE_REF GITHUB_REF GITHUB_STEP_SUMMARY CI_MERGE_REQUEST_DIFF_BASE_SHA ASSAY_PACKAGE
mkdir -p "$work/a project/bench"
cd "$work/a project"

fail() { echo "project_test: $1" >&2; tail -n 30 "$work/out" >&2; exit 1; }
git() { command git -c user.name=a -c user.email=a@b -c commit.gpgsign=false -c init.defaultBranch=main "$@"; }
commit() { git add -A && git commit -q -m "$1"; }
run() {  # EXPECTED_EXIT[|OTHER] COMMAND...: output and errors to $work/out
  expected=$1 status=0
  shift
  "$@" >"$work/out" 2>&1 || status=$?
  case "|$expected|" in *"|$status|"*) ;; *) fail "'$*' exits $status, expected $expected" ;; esac
}
says() { grep -q -e "$1" "$work/out" || fail "does not say '$1'"; }

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(theirs LANGUAGES CXX)
option(WITH_MORE "does more" OFF)
find_package(benchmark REQUIRED)
add_executable(tool tool.cpp)
add_executable(speed bench/speed.cpp)
target_link_libraries(speed PRIVATE benchmark::benchmark)
set_target_properties(speed PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
END
cat >bench/speed.cpp <<'END'
#include <benchmark/benchmark.h>
#include <cstring>
static void work(benchmark::State& state, int steps) {
  for (auto _ : state) {
    volatile double x = 1;
    for (int i = 0; i < steps; ++i) x = x * 0.999999 + 1e-6;
  }
}
static void steady(benchmark::State& state) { work(state, 10000); }
static void moved(benchmark::State& state) { work(state, 10000); }
BENCHMARK(steady);
BENCHMARK(moved);
int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "--go on") != 0) return 9;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
END
printf '#include <cstdio>\nint main() { std::puts("time: 10 ms"); }\n' >tool.cpp
echo build >.gitignore

# init offers the targets that can be gated, and writes nothing before it is asked to.
run 0 "$assay" init .
says 'kind google-benchmark --target speed'
says 'kind command --target tool'
says 'kind kernels'
[ ! -e assay.json ] || fail 'writes without being asked'
run 2 "$assay" init . --kind command --write
says 'speed, tool could be meant'
run 0 "$assay" init . --write
grep -q '"program": *"bench/speed"' assay.json || fail 'does not find the program'
! grep -q 'build/kernels' .github/workflows/kernels.yml || fail 'the job builds kernels that are not there'
sed -i 's/"target"/"arguments": ["--go on"], "filter": "steady|moved", "target"/' assay.json
git init -q .
commit one
echo '// nothing else' >>bench/speed.cpp
commit comment
sed -i 's/void moved\(.*\)10000/void moved\115000/' bench/speed.cpp
commit slower

run '0|3' "$assay" gate --base HEAD~2 --head HEAD~1 --budget 20 --json found.json
! grep -q '"standing": "slower"' found.json || fail 'calls an edit of a comment slower'
grep -q '"key": "moved"' found.json || fail 'does not measure'
run 1 "$assay" gate --base HEAD~2 --merge-base --budget 60
says '✗ moved'
[ -z "$(git status --porcelain -- . ':!found.json')" ] || fail "git sees $(git status --porcelain)"
run 1 env ASSAY="$assay" ASSAY_REPORT="$work/report" "$gate" HEAD~2 --budget 60
grep -q 'moved' "$work/report/comment.md" || fail 'comment.md does not name what is slower'
run 2 "$assay" gate --base HEAD~2 --threads 2
says '--threads: is of kernels'
run 2 "$assay" gate --base HEAD~2 --head HEAD --counter lost
says '--counter lost: says no direction'

# Both sides in a bundle, divided.
run 0 "$assay" prepare --base HEAD~2 -o "$work/both"
cd "$work"
for shard in 0 1; do
  run '0|1|3' "$assay" gate --bundle both --budget 60 --shard-count 2 --shard-index $shard -o shard$shard.json
done
run 1 "$assay" merge shard0.json shard1.json -o all.json
says '✗ moved'
cd "$work/a project"

# A head without a build type: the base has none, either. Where it cannot be alike, that is said, and no ratio.
cmake -S . -B build -DWITH_MORE=ON >"$work/log" && cmake --build build --target speed tool >>"$work/log"
run '0|1|3' "$assay" gate --base HEAD --head "build/bench/speed '--go on'" --budget 5
cache=$(grep -l '^WITH_MORE:.*=ON' .assay/revisions/*/source/build/release/CMakeCache.txt) || fail 'options of the head are lost'
grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=$' "$cache" || fail 'the base has another build type'
sed -i 's/"target"/"configure": ["-DCMAKE_BUILD_TYPE=Release"], "target"/' assay.json
run 3 "$assay" gate --base HEAD --head build/bench/speed --budget 5 --on-undecided fail
says 'CMAKE_BUILD_TYPE is empty in the head'
says '^NOT COMPARABLE'
run 0 "$assay" gate --base build/bench/speed\ "'--go on'" --head "build/bench/speed '--go on'" -k '^steady$' --budget 4 --on-undecided warn
git checkout -q assay.json

# A base that builds no more says how it is given.
git branch whole
sed -i 's/WITH_MORE/no such thing(/' CMakeLists.txt
commit broken
git checkout -q whole
run 2 "$assay" gate --base main
says 'cannot configure'
says '--base-build'
run '0|1|3' "$assay" gate --base main --base-build build --head build/bench/speed --budget 5
says "$(git rev-parse main | cut -c 1-7) (main)"

# A command, by a number that it prints.
cat >assay.json <<'END'
{"schema": "assay.project/1", "kind": "command", "target": "tool", "match": "time: ([0-9.]+) ms"}
END
commit command
sed -i 's/10 ms/15 ms/' tool.cpp
commit 'slower command'
run 1 "$assay" gate --base HEAD~1 --budget 30
says '✗ tool'
sed -i 's/"command"/"commands"/' assay.json
run 2 "$assay" gate --base HEAD~1
says 'assay.json: kind'
