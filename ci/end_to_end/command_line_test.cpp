// The program from the outside: verbs, exit codes, last lines, and files that are whole or not there.

#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

/// Few variants, so that sanitized builds stay quick.
constexpr const char* few = "-k 'packed|flat'";

class Program : public ::testing::Test {
 protected:
  void SetUp() override { folder_.write("tiny.json", tiny_suite); }
  Finished run(const std::string& arguments, const std::string& plant = "") {
    return run_program(arguments, folder_.path(), plant);
  }
  Folder folder_;
};

TEST_F(Program, ListsWhatIsRegisteredAsJson) {
  const Finished done = run("list --json -");
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  const Json json = Json::parse(done.output);
  EXPECT_EQ(json.at("schema"), "assay.list/1");
  EXPECT_EQ(json.at("operations").at(0).at("name"), "adamw");
  EXPECT_THAT(json.at("reference_flags").get<std::string>(), HasSubstr("-ffp-contract=off"));
}

TEST_F(Program, ListsWhereAVariantIsRegisteredAndThatItsCodeIsUnknownWithoutATable) {
  const Finished text = run("list gemm/packed --code");
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_THAT(text.output, AllOf(HasSubstr("unknown"), HasSubstr("kernels/gemm/packed.cpp")));
  const Json json = Json::parse(run("list gemm/packed --json -").output);
  const Json& packed = json.at("operations").at(0).at("variants").at(0);
  EXPECT_EQ(packed.at("source"), "kernels/gemm/packed.cpp");
  EXPECT_EQ(packed.at("code"), "");
  EXPECT_FALSE(packed.contains("calls"));
  EXPECT_THAT(run("list gemm/packed").output, ::testing::ContainsRegex("calls +unknown of 1 variant"));
}

TEST_F(Program, ChecksAndSaysThatAllAgree) {
  const Finished done = run("check -k gemm/packed");
  EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), AllOf(HasSubstr("AGREE"), HasSubstr("0 disagree")));
}

TEST_F(Program, NamesAPlantedWrongKernelInItsLastLinesAndExitsOne) {
  const Finished done = run("check -k 'gemm/(packed|planted)'", "wrong");
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.last_lines(2),
              AllOf(HasSubstr("WRONG: gemm/planted"), HasSubstr("assay_planted check -k")));
}

TEST_F(Program, ShowsEveryKnownBadVariantRejected) {
  const Finished done = run("check --known-bad");
  EXPECT_EQ(done.exit_code, 0) << done.output;
  EXPECT_THAT(done.output,
              AllOf(HasSubstr("layernorm/sum_of_squares"), HasSubstr("rstd["), HasSubstr("offset fill")));
  EXPECT_THAT(done.last_lines(1), HasSubstr("REJECTED: all"));
  EXPECT_EQ(run("run --suite tiny.json -k known_bad").exit_code, 2);
}

TEST_F(Program, FailsWhenAnHonestKernelIsSaidToCheatOrACheatToBeHonest) {
  const Finished framed = run("check --known-cheats -k gemm/planted", "framed");
  EXPECT_EQ(framed.exit_code, 1) << framed.output << framed.errors;
  EXPECT_THAT(framed.last_lines(1), HasSubstr("NOT REJECTED: gemm/planted"));
  const Finished disguised = run("check --known-cheats -k gemm/planted --json c.json", "disguised");
  EXPECT_EQ(disguised.exit_code, 1) << disguised.output << disguised.errors;
  EXPECT_THAT(disguised.last_lines(1), HasSubstr("REJECTED THOUGH HONEST: gemm/planted"));
  const Json told = Json::parse(folder_.read("c.json"));
  EXPECT_EQ(told.at("schema"), "assay.known_cheats/1");
  EXPECT_EQ(told.at("variants").at(0).at("name"), "gemm/planted");
  EXPECT_EQ(told.at("variants").at(0).at("check").at("rejected"), 1);
  EXPECT_EQ(told.at("variants").at(0).at("gate").at("rejected"), 1);
}

TEST_F(Program, RefusesAFilterThatSelectsNoKnownCheat) {
  const Finished done = run("check --known-cheats -k gemm/packed");
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.errors, HasSubstr("selects no known cheat"));
  EXPECT_EQ(run("run --suite tiny.json -k replay_by_pointer").exit_code, 2);
}

TEST_F(Program, RefusesATraceForAnOperationThatTakesNone) {
  const Finished done = run("check gemm/packed --trace tiny.json");
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.errors, HasSubstr("takes no file"));
}

TEST_F(Program, PlansTheMemoryThatAProfilersTraceShows) {
  const auto event = [](long bytes, int address) {
    return R"({"name": "[memory]", "ph": "i", "ts": 1, "args": {"Device Type": 1, "Device Id": 0, "Total Reserved": 4096,
      "Bytes": )" +
           std::to_string(bytes) + R"(, "Addr": )" + std::to_string(address) + "}}";
  };
  folder_.write("trace.json", R"({"traceEvents": [)" + event(1024, 1) + "," + event(2048, 2) + "," +
                                  event(-1024, 1) + "," + event(512, 3) + "]}");
  const Finished done = run("check memory_pool_plan --trace trace.json --requests requests.csv");
  EXPECT_EQ(done.exit_code, 0) << done.output;
  EXPECT_THAT(done.output, HasSubstr("trace: 3 blocks of accelerator 0, 2 never freed"));
  EXPECT_THAT(
      done.output,
      HasSubstr("3,072 bytes lived at once at most; its allocator reserved 4,096 bytes, gap 33.33 %"));
  EXPECT_THAT(done.output, HasSubstr("would have saved 25.0 % of that"));
  EXPECT_THAT(done.output, HasSubstr("height 3,072 bytes, lower bound 3,072 bytes,"));
  const Finished again = run("check memory_pool_plan --trace requests.csv");
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_THAT(again.output, HasSubstr("height 3,072 bytes, lower bound 3,072 bytes,"));
  const Finished wrong = run("check memory_pool_plan --trace requests.csv --requests more.csv");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("requests.csv is no trace of the PyTorch profiler"));
}

TEST_F(Program, NeverTimesAWrongKernelAndSaysSo) {
  const Finished done = run("run --suite tiny.json -k 'gemm/(packed|planted)' -o r.json", "wrong");
  EXPECT_EQ(done.exit_code, 1) << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("WRONG: gemm/planted"));
  const Json results = Json::parse(folder_.read("r.json"));
  for (const Json& trial : results.at("trials")) {
    const bool timed = trial.contains("launches") && !trial.at("launches").empty();
    EXPECT_EQ(timed, trial.at("variant") != "planted") << trial.at("key");
  }
}

TEST_F(Program, WritesNoBaselineOfAWrongKernel) {
  const Finished done = run("record --suite tiny.json --launches 1 --reason x --baselines b", "wrong");
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.last_lines(2), AllOf(HasSubstr("nothing was recorded"), HasSubstr("WRONG: gemm/planted")));
  EXPECT_EQ(folder_.listing(), "tiny.json\n");
}

/// No reading of a clock is a part of its roof, and what is interrupted now and then stays below a quarter.
constexpr const char* large_enough_for_a_roof =
    R"({"schema": 1, "name": "one", "about": "end to end", "cases": [{"op": "gemm", "m": 128, "n": 128, "k": 128}]})";

TEST_F(Program, BelievesNoTimeThatNoKernelCanReach) {
  folder_.write("one.json", large_enough_for_a_roof);
  const Finished done =
      run("run --suite one.json --threads 1 -k 'gemm/(naive|packed)' --launches 2 -o r.json", "idle");
  EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("IMPOSSIBLE: gemm/packed is faster than any kernel can be here"));
  EXPECT_THAT(done.output,
              AllOf(HasSubstr("  packed\n      IMPOSSIBLE: took "), Not(HasSubstr("not believed"))));
  const Json results = Json::parse(folder_.read("r.json"));
  for (const Json& trial : results.at("trials")) {
    EXPECT_EQ(trial.contains("impossible"), trial.at("variant") == "packed") << trial.at("key");
    EXPECT_EQ(trial.at("launches").size(), 2U) << "samples are kept";
  }
  const Finished compared = run("compare r.json r.json");
  EXPECT_EQ(compared.exit_code, 1) << compared.output << compared.errors;
  EXPECT_THAT(compared.output, HasSubstr("1 of 2 trials is faster than any kernel can be"));
}

TEST_F(Program, WritesNoBaselineOfATimeThatNoKernelCanReach) {
  folder_.write("one.json", large_enough_for_a_roof);
  for (const char* verb : {"record --reason x --baselines b", "gate --record-missing b"}) {
    const Finished done = run(verb + std::string(" --suite one.json --launches 1 --threads 1"), "idle");
    EXPECT_EQ(done.exit_code, 1) << verb << done.output << done.errors;
    EXPECT_THAT(done.last_lines(1), HasSubstr("IMPOSSIBLE: gemm/packed")) << verb;
    EXPECT_EQ(folder_.listing(), "one.json\ntiny.json\n") << verb;
  }
}

TEST_F(Program, GateWithoutABaselineIsUndecided) {
  const Finished done = run(std::string("gate --suite tiny.json --launches 1 ") + few);
  EXPECT_EQ(done.exit_code, 3) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(2),
              AllOf(HasSubstr("no comparable baseline of suite tiny"), HasSubstr("assay_planted record")));
}

TEST_F(Program, GateNamesAPlantedSlowDownInItsLastLinesAndExitsOne) {
  const std::string gate =
      std::string("gate --suite tiny.json --launches 4 --record-missing b --reports r ") + few;
  const Finished first = run(gate);
  ASSERT_EQ(first.exit_code, 0) << first.output << first.errors;
  EXPECT_THAT(first.last_lines(1), HasSubstr("RECORDED"));
  const Finished second = run(gate, "slower=4");
  EXPECT_EQ(second.exit_code, 1) << second.output;
  EXPECT_THAT(second.last_lines(3), AllOf(HasSubstr("gemm/packed/"), HasSubstr("REGRESSION")));
  EXPECT_THAT(folder_.listing(), AllOf(HasSubstr("/tiny.md"), HasSubstr("/tiny.json")));
}

TEST_F(Program, GateSaysWhatDiffersFromABaselineOfAnotherBuildInsteadOfJudging) {
  const std::string gate = std::string("gate --suite tiny.json --launches 1 --baselines b ") + few;
  ASSERT_EQ(run(gate + " --record-missing b").exit_code, 0);
  const std::string file = folder_.listing().substr(0, folder_.listing().find('\n'));
  Json baseline = Json::parse(folder_.read(file));
  for (Json& fact : baseline.at("recordings")[0].at("results").at("machine").at("facts")) {
    if (fact.at("name") == "compiler") fact.at("value") = "another compiler";
  }
  folder_.write(file, baseline.dump());
  const Finished done = run(gate);
  EXPECT_EQ(done.exit_code, 3) << done.errors;
  EXPECT_THAT(done.output, AllOf(HasSubstr("another compiler"), HasSubstr("not comparable")));
  const Finished renewed = run(gate + " --record-missing b");
  EXPECT_EQ(renewed.exit_code, 0) << renewed.errors;
  EXPECT_THAT(renewed.last_lines(1), HasSubstr("RECORDED"));
}

TEST_F(Program, ComparesTwoResultFilesInWords) {
  ASSERT_EQ(run(std::string("run --suite tiny.json --launches 3 -o a.json ") + few).exit_code, 0);
  const Finished done = run("compare a.json a.json --md");
  EXPECT_THAT(done.exit_code, AnyOf(0, 3)) << done.output << done.errors;
  // The machine decides between the two, by how busy it is.
  EXPECT_THAT(done.output, AnyOf(HasSubstr("6 same"), HasSubstr("undecided")));
  EXPECT_THAT(done.output, Not(HasSubstr("✗")));
}

TEST_F(Program, HonoursTheFamiliarBenchmarkFlags) {
  const std::string filter = "run --suite tiny.json --benchmark_filter=packed/m=24 ";
  const Finished listed = run(filter + "--benchmark_list_tests=true");
  EXPECT_EQ(listed.exit_code, 0) << listed.errors;
  EXPECT_EQ(listed.output, "gemm/naive/m=24,n=24,k=25#1\ngemm/packed/m=24,n=24,k=25#1\n");

  const Finished done = run(
      filter +
      "--benchmark_repetitions=4 --benchmark_min_time=0.001s --benchmark_format=json --benchmark_out=o.json");
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  for (const std::string& text : {done.output, folder_.read("o.json")}) {
    const Json json = Json::parse(text);
    ASSERT_EQ(json.at("benchmarks").size(), 8U);
    EXPECT_EQ(json.at("benchmarks")[0].at("run_type"), "iteration");
  }
}

TEST_F(Program, SaysWhatIsWrongWithBadInputAndWritesNothing) {
  folder_.write("broken.json", "{\"schema\": 1,\n  oops}");
  folder_.write("huge.json", R"({"schema": 1, "name": "huge", "about": "x",
    "cases": [{"op": "gemm", "m": 1048576, "n": 1048576, "k": 1024}]})");
  folder_.write("uncountable.json", R"({"schema": 1, "name": "uncountable", "about": "x",
    "cases": [{"op": "elementwise_add", "n": 2147483648, "c": 2147483648, "h": 2147483648, "w": 1}]})");
  folder_.write("endless.json", R"({"schema": 1, "name": "endless", "about": "x",
    "cases": [{"op": "gemm", "m": 4, "n": 4, "k": 1e999}]})");
  const std::string before = folder_.listing();
  struct Bad {
    std::string arguments, complaint;
  };
  for (const auto& [arguments, complaint] :
       std::vector<Bad>{{"run --suite missing.json", "missing.json: cannot be read"},
                        {"run --suite broken.json", "broken.json: invalid JSON at line 2, column 3"},
                        {"run --suite huge.json", "are available"},
                        {"run --suite uncountable.json", "the product of n = 2147483648, c = 2147483648"},
                        {"run --suite endless.json", "endless.json: cases[0].k: is 1e999 at line 2"},
                        {"check --suite endless.json", "endless.json: cases[0].k: is 1e999 at line 2"},
                        {"schema sweet", "sweet: is no format of a file"},
                        {"run --suite tiny.json -k nothing_like_it -o r.json", "selects nothing"},
                        {"run --suite tiny.json --benchmark_filter=nothing_like_it", "selects nothing"},
                        {"run --suite tiny.json --benchmark_perf_counters=x", "--benchmark_perf_counters"},
                        {"run --suite tiny.json -k '('", "not a regular expression"},
                        {"check -k nothing_like_it", "selects no variant"},
                        {"list nothing_like_it", "selects no variant"},
                        {"compare missing.json tiny.json", "missing.json"},
                        {"compare tiny.json tiny.json", "tiny.json"},
                        {"report tiny.json", "tiny.json"},
                        {"gate --suite tiny.json --baselines mistyped", "mistyped: is no folder"},
                        {"run --suite tiny.json --benchmark_min_time=inf", "is not a finite number"},
                        {"dance", "dance"}}) {
    const Finished done = run(arguments);
    EXPECT_EQ(done.exit_code, 2) << arguments << "\n" << done.output << done.errors;
    EXPECT_THAT(done.errors, HasSubstr(complaint)) << arguments;
    EXPECT_EQ(folder_.listing(), before) << arguments;
  }
}

TEST_F(Program, RefusesAnUnusableBaselineBeforeItMeasures) {
  const Finished recorded = run(std::string("gate --suite tiny.json --launches 1 --record-missing b ") + few);
  ASSERT_EQ(recorded.exit_code, 0) << recorded.errors;
  const std::string file = folder_.listing().substr(0, folder_.listing().find('\n'));
  const std::string whole = folder_.read(file);
  folder_.write(file, whole.substr(0, whole.size() / 2));
  const Finished truncated = run(std::string("gate --suite tiny.json --launches 1 --baselines b ") + few);
  EXPECT_EQ(truncated.exit_code, 2);
  EXPECT_THAT(truncated.errors, HasSubstr(file));
  EXPECT_THAT(truncated.output, IsEmpty());

  std::string other = whole;
  other.replace(other.find("assay.baseline/1"), 16, "assay.baseline/9");
  folder_.write(file, other);
  const Finished foreign = run(std::string("gate --suite tiny.json --launches 1 --baselines b ") + few);
  EXPECT_EQ(foreign.exit_code, 2);
  EXPECT_THAT(foreign.errors, HasSubstr("assay.baseline/9"));

  std::string nameless = whole;
  nameless.replace(nameless.find("m=24,n=24,k=25#1\""), 17, "m=24,n=24,k=25\"");
  folder_.write(file, nameless);
  const Finished refused = run(std::string("gate --suite tiny.json --launches 1 --baselines b ") + few);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("the fields beside it make gemm/"));
  EXPECT_THAT(refused.output, IsEmpty());
}

TEST_F(Program, GatePassesNothingThatItCouldNotDecide) {
  const std::string gate = std::string("gate --suite tiny.json --baselines b ") + few;
  ASSERT_EQ(run(gate + " --launches 1 --record-missing b").exit_code, 0);
  const Finished few_launches = run(gate + " --launches 1");
  EXPECT_EQ(few_launches.exit_code, 3) << few_launches.output;
  EXPECT_THAT(few_launches.last_lines(1),
              HasSubstr("UNDECIDED: no verdict could be reached on any of 6 trials"));
  EXPECT_THAT(few_launches.output,
              HasSubstr("undecided, 6 trials: 1 process starts before and 3 after are too few"));

  const std::string file = folder_.listing().substr(0, folder_.listing().find('\n'));
  Json baseline = Json::parse(folder_.read(file));
  for (Json& trial : baseline.at("recordings")[0].at("results").at("trials")) {
    for (Json& launch : trial.at("launches")) {
      for (Json& seconds : launch.at("seconds")) seconds = seconds.get<double>() / 20;
    }
  }
  folder_.write(file, baseline.dump());
  const Finished unfit = run(gate + " --launches 3 --junit j.xml");
  EXPECT_EQ(unfit.exit_code, 3) << unfit.output;
  EXPECT_THAT(unfit.last_lines(1), HasSubstr("MACHINE UNFIT: the 3 naive variants took"));
  EXPECT_THAT(folder_.read("j.xml"), HasSubstr("<error type=\"undecided\" message=\"MACHINE UNFIT"));
}

TEST_F(Program, LeavesNoHalfFileWhenTheResultsCannotBeWritten) {
  const Finished done = run(std::string("run --suite tiny.json -o no/such/folder/r.json ") + few);
  EXPECT_EQ(done.exit_code, 2) << done.output;
  EXPECT_THAT(done.errors, HasSubstr("no/such/folder"));
  const Finished full = run(std::string("run --suite tiny.json -o /dev/full ") + few);
  EXPECT_EQ(full.exit_code, 2) << full.output;
  EXPECT_THAT(full.errors, HasSubstr("/dev/full"));
  EXPECT_THAT(full.output, HasSubstr("MEASURED")) << "what was found is told all the same";
  EXPECT_EQ(folder_.listing(), "tiny.json\n");
}

TEST_F(Program, FindsOutputsThatCannotBeWrittenBeforeItMeasures) {
  folder_.write("old.json", "old");
  folder_.write("file", "");
  for (const std::string arguments :
       {"run --suite tiny.json -o no/r.json", "run --suite tiny.json --json .",
        "gate --suite tiny.json -o old.json --junit no/j.xml", "gate --suite tiny.json --reports file/r",
        "record --suite tiny.json --reason x --baselines file",
        "selftest --suite tiny.json -o old.json --md no/s.md", "run --suite tiny.json -o r --json ./r"}) {
    const Finished done = run(arguments);
    EXPECT_EQ(done.exit_code, 2) << arguments << done.output;
    EXPECT_THAT(done.output, IsEmpty()) << arguments;
    EXPECT_EQ(folder_.read("old.json"), "old") << arguments;
  }
}

TEST_F(Program, DoesNotPassWhenNobodyCanReadWhatItPrints) {
  EXPECT_EQ(run("list >/dev/full").exit_code, 2);
  const Finished help = run("--version >/dev/full");
  EXPECT_EQ(help.exit_code, 2);
  EXPECT_THAT(help.errors, HasSubstr("standard output"));
}

TEST_F(Program, NamesAFolderForTemporaryFilesThatIsNone) {
  const Finished done = run_shell(
      std::string("TMPDIR=/nope '") + ASSAY_PROGRAM + "' run --suite tiny.json " + few, folder_.path());
  EXPECT_EQ(done.exit_code, 2) << done.errors;
  EXPECT_THAT(done.errors, HasSubstr("TMPDIR=/nope: is no folder for temporary files"));
}

// The shell interrupts the program once launches have begun; what it measured by then stays, and is valid.
// They have a folder of this test alone, since other tests run beside it.
TEST_F(Program, KeepsAValidPartialResultWhenInterrupted) {
  folder_.write("tmp/made", "");
  const std::string program =
      std::string("exec '") + ASSAY_PROGRAM + "' run --suite tiny.json --launches 500 -o r.json " + few;
  const Finished done =
      run_shell("export TMPDIR=\"$PWD/tmp\"; sh -c \"" + program +
                    "\" & child=$!; until ls tmp/assay-*/*/request.json >/dev/null 2>&1; do "
                    "kill -0 $child || break; done; sleep 1; kill -INT $child; wait $child",
                folder_.path());
  EXPECT_EQ(done.exit_code, 130) << done.output << done.errors;
  EXPECT_THAT(done.output, HasSubstr("INTERRUPTED"));
  const Json json = Json::parse(folder_.read("r.json"));
  EXPECT_TRUE(json.at("partial").get<bool>());
}

TEST_F(Program, IsReadByGoogleBenchmarksOwnCompareTool) {
  if (run_shell(
          "test -f /usr/share/benchmark/compare.py && PATH=/usr/bin:$PATH python3 -c 'import numpy, scipy'",
          folder_.path())
          .exit_code != 0) {
    GTEST_SKIP() << "compare.py needs the packages libbenchmark-tools and python3-scipy";
  }
  ASSERT_EQ(run(std::string("run --suite tiny.json --benchmark_out=o.json --benchmark_repetitions=9 ") + few)
                .exit_code,
            0);
  const Finished done = run_shell(
      "PATH=/usr/bin:$PATH python3 /usr/share/benchmark/compare.py benchmarks o.json o.json", folder_.path());
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("gemm/packed/m=24"));
}

}  // namespace
}  // namespace assay::testing
