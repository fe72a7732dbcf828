#!/bin/sh
# Usage: ci/layers.sh [ROOT]   Fails on an #include that goes against the layers, on a file of more than 400
# lines and on a file named for no purpose; says file:line and the rule. Exit codes: 0 none found, 1 found.
#
#   harness <- reference <- kernels <- the assay executable
#   statistics, figures, registry <- code <- machine <- plan <- check <- measure <- compare, exchange <- epoch <- tune <- report <- app
set -eu
cd "${1:-$(dirname "$0")/..}"

# Public headers whose stage is neither their name nor the folder of the source of the same name.
stages='agreement:registry error:registry random:registry typed:registry plugin:registry training:registry interval:statistics
  suite:plan results:measure pipeline:app'
for source in $(find harness -name '*.cpp' ! -name '*_test.cpp'); do
  folder=${source%/*}
  name=${source##*/}
  stages="$stages ${name%.cpp}:${folder#harness/}"
done

found=$(
  find harness reference kernels suites ci -name '*.cpp' -o -name '*.hpp' -o -name '*.h' | xargs awk -v stages="$stages" '
    BEGIN {
      count = split("statistics figures registry code machine plan check measure compare epoch tune report app", order, " ")
      for (i = 1; i <= count; ++i) { rank[order[i]] = i; stage_of[order[i]] = order[i] }
      rank["exchange"] = rank["compare"]
      count = split(stages, pairs, " ")
      for (i = 1; i <= count; ++i) { split(pairs[i], p, ":"); if (!(p[1] in stage_of)) stage_of[p[1]] = p[2] }
    }
    function fail(rule) { printf "%s:%d: %s: %s\n", FILENAME, FNR, what, rule }
    function stage_of_header(path,   parts, n) {   # of a header as spelled in an #include; "" when unknown
      n = split(path, parts, "/")
      if (path !~ /^assay\//) return n > 1 ? parts[1] : own_stage
      sub(/\.h(pp)?$/, "", parts[n])
      return stage_of[parts[n]]
    }
    FNR == 1 {
      is_public = FILENAME ~ /^(harness|reference)\/include\//
      is_test = FILENAME ~ /_test\.(cpp|hpp)$/
      is_cpp = FILENAME ~ /\.cpp$/
      own_stage = ""
      if (FILENAME ~ /^harness\/include\//) {
        own_stage = stage_of_header(substr(FILENAME, length("harness/include/") + 1))
      } else if (FILENAME ~ /^harness\//) {
        split(FILENAME, folders, "/")
        own_stage = folders[2]
      }
    }
    FNR == 401 { what = "more than 400 lines"; fail("a file has one purpose and at most 400 lines") }
    !/^[ \t]*#[ \t]*include[ \t]*[<"]/ { next }
    {
      what = $0
      sub(/^[ \t]*#[ \t]*include[ \t]*/, "", what)
      sub(/[>"][^>"]*$/, substr(what, 1, 1) == "<" ? ">" : "\"", what)
      header = substr(what, 2, length(what) - 2)

      standard = what ~ /^<[a-z_0-9]+>$/
      ours = header ~ /^assay\//
      from_c = what ~ /^<([a-z]+\/)*[a-z0-9_]+\.h>$/ && header !~ /^(fmt|nlohmann|benchmark|gtest|gmock|hwy)\//
      for_tests = is_test && header ~ /^(gtest|gmock)\//

      if (header ~ /^(benchmark|CLI)\// && !is_cpp)
        fail("Google Benchmark and CLI11 are included by .cpp files only")
      if (header ~ /^CLI\// && FILENAME !~ /^harness\/app\/options[a-z_]*\.cpp$/)
        fail("CLI11 is included by harness/app/options*.cpp only")
      # and by a program that a test takes for a foreign one
      if (header ~ /^benchmark\// && FILENAME != "harness/measure/sampler.cpp" && FILENAME !~ /^ci\/end_to_end\/foreign_/)
        fail("Google Benchmark is included by harness/measure/sampler.cpp only")
      if (is_public && !standard && !ours && !(FILENAME ~ /\/plugin\.h$/ && from_c))
        fail("a public header includes the standard library and assay/ only")

      if (FILENAME ~ /^harness\//) {
        if (header ~ /(^|\/)(ops|reference|kernels)\// || header == "cblas.h") {
          fail("the harness knows no hot path")
        } else if (ours || what ~ /^"/) {
          theirs = stage_of_header(header)
          if (!(own_stage in rank)) fail("the stage of " FILENAME " is unknown: list it in ci/layers.sh")
          else if (!(theirs in rank)) fail("the stage of this header is unknown: list it in ci/layers.sh")
          else if (own_stage == "statistics" && theirs != "statistics" && header != "assay/random.hpp")
            fail("statistics is pure: it includes itself and assay/random.hpp only")
          else if (own_stage == "figures" && theirs != "figures" && header != "assay/interval.hpp")
            fail("figures is pure: it includes itself and assay/interval.hpp only")
          else if (rank[theirs] > rank[own_stage] && !is_test && header != "assay/random.hpp")
            fail("a stage includes earlier stages only, and " own_stage " comes before " theirs)
        }
      } else if (ours && header ~ /\/detail\//) {
        fail("assay/detail/ is for the harness alone")
      }
      system_call = is_cpp && header ~ /^((sys|linux)\/[a-z_]+|fcntl|signal|unistd)\.h$/
      if (FILENAME ~ /^reference\// && !standard && !ours && !for_tests && !system_call)
        fail("the reference includes the standard library and assay/ only, and its .cpp files the headers of system calls")
      if (FILENAME ~ /^kernels\// && !standard && !ours && !for_tests && !from_c && header !~ /^hwy\//) {
        name = "kernels/" header
        if ((getline ignored < name) < 0)
          fail("kernels include the standard library, assay/, Highway, C headers and their own only")
        close(name)
      }
    }'
  find ci -name '*.sh' -type f | while read -r script; do
    lines=$(wc -l < "$script")
    [ "$lines" -le 400 ] || echo "$script:401: more than 400 lines: a file has one purpose and at most 400 lines"
  done
  find harness reference kernels suites baselines reports ci 2>/dev/null |
    grep -E '/(utils?|common|helpers?|misc)(_test)?(\.[a-z]+)?$' |
    sed 's/$/:1: a file is named for its purpose, not utils, common, helpers or misc/' || true
)
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
