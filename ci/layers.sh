#!/bin/sh
# Usage: ci/layers.sh [ROOT]   Fails on an #include that goes against the layers, on a verb that prints past the door
# for texts from files, and on a file named for no purpose; says file:line and the rule. Exit codes: 0 none found, 1 found.
#
#   harness <- reference <- kernels <- the assay executable
#   harness/core <- harness/bench, harness/training <- harness/app; bench and training know nothing of each other
set -eu
cd "${1:-$(dirname "$0")/..}"

# Rooms of each wing, lowest first: a room includes those below it.
rooms='core/statistics core/registry core/text core/json core/markup core/files core/code core/machine core/tune core/plan core/check core/plugin
  bench/measure bench/compare bench/run bench/exchange bench/programs bench/ledger bench/gate bench/tune bench/report
  training/job training/epoch training/tune training/report app'

# A public header is of the room of the source of its name. Here are those that have none, or one elsewhere.
public='agreement=core/registry error=core/registry failure=core/registry figure=core/registry hooks=core/registry
  operation=core/registry plugin=core/registry training=core/registry code_table=core/registry
  callable=core/registry erased=core/registry typed=core/registry from_parts=core/registry
  audit=core/check caches=core/machine csv=core/text
  interval=core/statistics machine=core/machine compare=bench/compare epoch=bench/report report=bench/report'
for header in harness/include/assay/*.hpp harness/include/assay/detail/*.hpp; do
  name=${header##*/} name=${name%.hpp}
  case " $public" in *[[:space:]]"$name="*) continue ;; esac
  for source in harness/core/*/"$name.cpp" harness/bench/*/"$name.cpp" harness/training/*/"$name.cpp"; do
    [ ! -e "$source" ] || { room=${source%/*}; public="$public $name=${room#harness/}"; }
  done
done

found=$(
  find harness reference kernels suites ci -name '*.cpp' -o -name '*.hpp' -o -name '*.h' |
    xargs awk -v rooms="$rooms" -v public="$public" '
    BEGIN {
      count = split(rooms, order, " ")
      for (i = 1; i <= count; ++i) rank[order[i]] = i
      count = split(public, pairs, " ")
      for (i = 1; i <= count; ++i) { split(pairs[i], p, "="); room_of[p[1]] = p[2] }
    }
    function fail(rule) { printf "%s:%d: %s: %s\n", FILENAME, FNR, what, rule }
    function wing(room) { sub(/\/.*/, "", room); return room }
    function room_of_public(path,   parts, n) {  # as spelled in an #include, assay/…; "" when unknown
      n = split(path, parts, "/")
      sub(/\.h(pp)?$/, "", parts[n])
      return room_of[parts[n]]
    }
    function room_of_file(path,   parts, n) {  # below harness/
      if (path ~ /^include\//) return room_of_public(substr(path, 9))
      n = split(path, parts, "/")
      return parts[1] == "app" ? "app" : n > 2 ? parts[1] "/" parts[2] : parts[1]
    }
    FNR == 1 {
      is_public = FILENAME ~ /^(harness|reference)\/include\//
      is_test = FILENAME ~ /_test\.(cpp|hpp)$/
      is_cpp = FILENAME ~ /\.cpp$/
      own = FILENAME ~ /^harness\// ? room_of_file(substr(FILENAME, 9)) : ""
    }
    own == "app" && !is_test && /fmt::print\(/ && FILENAME !~ /\/app\/(output|progress)\.[ch]pp$/ {
      what = "fmt::print"
      fail("verbs print by print_visible() of harness/app/output.hpp, which escapes what a terminal obeys")
    }
    !/^[ \t]*#[ \t]*include[ \t]*[<"]/ { next }
    {
      what = $0
      sub(/^[ \t]*#[ \t]*include[ \t]*/, "", what)
      sub(/[>"][^>"]*$/, substr(what, 1, 1) == "<" ? ">" : "\"", what)
      header = substr(what, 2, length(what) - 2)

      standard = what ~ /^<[a-z_0-9]+>$/
      ours = header ~ /^assay\//
      from_c = what ~ /^<([a-z]+\/)*[a-z0-9_]+\.h>$/ && header !~ /^(fmt|nlohmann|benchmark|gtest|gmock|hwy)\//
      for_tests = is_test && header ~ /^(gtest|gmock)\/|_test\.hpp$/

      if (header ~ /^(benchmark|CLI)\// && !is_cpp)
        fail("Google Benchmark and CLI11 are included by .cpp files only")
      if (header ~ /^CLI\// && FILENAME != "harness/app/option_parser.cpp")
        fail("CLI11 is included by harness/app/option_parser.cpp only")
      # and by a program that a test takes for a foreign one
      if (header ~ /^benchmark\// && FILENAME != "harness/bench/measure/sampler.cpp" &&
          FILENAME !~ /^ci\/end_to_end\/foreign_/)
        fail("Google Benchmark is included by harness/bench/measure/sampler.cpp only")
      # Tests of the whole program read its files by another reader than its own.
      if (header ~ /^nlohmann\// && FILENAME != "harness/core/json/json.cpp" &&
          FILENAME !~ /^(harness\/core\/json|suites|ci\/end_to_end)\/.*_test\.cpp$/)
        fail("nlohmann-json is included by harness/core/json/json.cpp and tests of it only")
      if (is_public && !standard && !ours && !(FILENAME ~ /\/plugin\.h$/ && from_c))
        fail("a public header includes the standard library and assay/ only")

      if (FILENAME ~ /^harness\//) {
        if (header ~ /(^|\/)(ops|reference|kernels)\// || header == "cblas.h") {
          fail("the harness knows no hot path")
        } else if (ours || what ~ /^"/) {
          theirs = ours ? room_of_public(header) : room_of_file(header)
          if (!(own in rank)) fail("the room of " FILENAME " is unknown: list it in ci/layers.sh")
          else if (!(theirs in rank)) fail("the room of this header is unknown: list it in ci/layers.sh")
          else if (own == "core/statistics" && theirs != own && header != "assay/random.hpp")
            fail("statistics is pure: it includes itself and assay/random.hpp only")
          else if (wing(own) != wing(theirs) && wing(own) != "app" && wing(theirs) != "core")
            fail("bench and training stand on core alone, and core on nothing: " wing(own) " includes no " wing(theirs))
          else if (wing(own) == wing(theirs) && rank[theirs] > rank[own] && !is_test && header != "assay/random.hpp")
            fail("a room includes the rooms below it, and " own " is below " theirs)
        }
      } else if (ours && header ~ /\/detail\//) {
        fail("assay/detail/ is for the harness alone")
      }
      system_call = is_cpp && header ~ /^((sys|linux)\/[a-z_]+|fcntl|signal|unistd)\.h$/
      if (FILENAME ~ /^reference\// && !standard && !ours && !for_tests && !system_call)
        fail("the reference includes the standard library and assay/ only, and its .cpp files the headers of system calls")
      if (FILENAME ~ /^kernels\// && !standard && !ours && !for_tests && !from_c && header !~ /^(hwy|oneapi\/dnnl)\//) {
        name = "kernels/" header
        if ((getline ignored < name) < 0)
          fail("kernels include the standard library, assay/, Highway, oneDNN, C headers and their own only")
        close(name)
      }
    }'
  find harness reference kernels suites baselines reports ci 2>/dev/null |
    grep -E '/(utils?|common|helpers?|misc)(_test)?(\.[a-z]+)?$' |
    sed 's/$/:1: a file is named for its purpose, not utils, common, helpers or misc/' || true
)
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
