// The program as CI engines and test runners meet it: shards, merges, bisection, JUnit, GitHub.

#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

/// By FNV-1a of operation/problem modulo 2 and 4, the products of tiny_suite are in shard 0 and the addition
/// is in shard 1; shards 2 and 3 of 0 to 3 hold nothing.
constexpr const char* few_of_tiny = " --suite tiny.json -k 'packed|flat' ";

class Engine : public ::testing::Test {
 protected:
  void SetUp() override { folder_.write("tiny.json", tiny_suite); }
  /// Runs with these variables set, as `NAME=value NAME=value`.
  Finished run(const std::string& arguments, const std::string& variables = "") {
    return run_shell(variables + " '" ASSAY_PROGRAM "' " + arguments, folder_.path());
  }
  std::vector<std::string> keys(const std::string& file) {
    const Json document = Json::parse(folder_.read(file));
    std::vector<std::string> out;
    for (const Json& trial : document.at("trials")) out.push_back(trial.at("key"));
    return out;
  }
  Folder folder_;
};

TEST_F(Engine, RunsAShardOnEachOfTwoJobsAndMergesThem) {
  const std::string measure = std::string("run --launches 2") + few_of_tiny;
  ASSERT_EQ(run(measure + "-o whole.json").exit_code, 0);
  const Finished first = run(measure + "--shard-count 2 --shard-index 0 -o s0.json");
  ASSERT_EQ(first.exit_code, 0) << first.errors;
  EXPECT_THAT(first.last_lines(3), HasSubstr("shard 0 of 0 to 1 holds"));
  const Finished second =
      run(measure + "-o s1.json", "GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=1 GTEST_SHARD_STATUS_FILE=touched");
  ASSERT_EQ(second.exit_code, 0) << second.errors;
  EXPECT_THAT(folder_.listing(), HasSubstr("touched"));

  const Finished merged = run("merge s1.json s0.json -o all.json");
  EXPECT_EQ(merged.exit_code, 0) << merged.errors;
  EXPECT_THAT(merged.last_lines(1), HasSubstr("of 2 shards, into all.json"));
  EXPECT_EQ(keys("all.json"), keys("whole.json"));
  EXPECT_EQ(keys("s0.json").size() + keys("s1.json").size(), keys("whole.json").size());
  const Finished compared = run("compare whole.json all.json");
  EXPECT_EQ(compared.exit_code, 3) << compared.output;
  EXPECT_THAT(compared.output,
              HasSubstr("undecided, 6 trials: 2 process starts before and 2 after are too few"));
  const Finished report = run("report all.json");
  EXPECT_EQ(report.exit_code, 0) << report.errors;
  EXPECT_THAT(report.output, Not(HasSubstr("No prediction: this is one of")));

  for (const char* option : {"--md c.md", "--on-undecided fail", "--baselines b", "--drift-limit 1.1"}) {
    const Finished refused = run(std::string("merge s1.json s0.json -o less.json ") + option);
    EXPECT_EQ(refused.exit_code, 2) << option;
    EXPECT_THAT(refused.errors, HasSubstr("is for shards of a gate of two builds")) << option;
  }
}

TEST_F(Engine, MergesNothingWhileShardsAreMissingAndSaysHowToRunThem) {
  const std::string measure = std::string("run --launches 2") + few_of_tiny;
  ASSERT_EQ(run(measure + "--shard-count 2 --shard-index 1 -o s1.json").exit_code, 0);
  const Finished lacking = run("merge s1.json -o less.json");
  EXPECT_EQ(lacking.exit_code, 3) << "incomplete";
  EXPECT_THAT(lacking.errors, AllOf(HasSubstr("lacks shard 0 of 0 to 1"), HasSubstr("--array=0")));
  EXPECT_THAT(folder_.listing(), Not(HasSubstr("less.json")));
  const std::string program = "assay_planted ";
  std::size_t command = lacking.errors.find(program + "run");
  ASSERT_NE(command, std::string::npos) << lacking.errors;
  command += program.size();
  const std::string arguments = lacking.errors.substr(command, lacking.errors.find('\n', command) - command);
  ASSERT_EQ(run(arguments).exit_code, 0) << arguments;
  EXPECT_EQ(run("merge s0.json s1.json -o all.json").exit_code, 0);

  ASSERT_EQ(run(measure + "--seed 7 --shard-count 2 --shard-index 0 -o foreign.json").exit_code, 0);
  const Finished foreign = run("merge foreign.json s1.json -o less.json");
  EXPECT_EQ(foreign.exit_code, 2);
  EXPECT_THAT(foreign.errors, HasSubstr("s1.json: has the seed '42', and foreign.json has '7'"));
  const Finished twice = run("merge s0.json s1.json s1.json -o less.json");
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.errors, HasSubstr("is shard 1 of 0 to 1, and so is s1.json"));
}

TEST_F(Engine, BalancesShardsByTheTimesOfAnEarlierRun) {
  const std::string measure = std::string("run --launches 1") + few_of_tiny;
  ASSERT_EQ(run(measure + "-o before.json").exit_code, 0);
  const std::string balanced = " --shard-durations before.json --shard-count 3 --shard-index ";
  std::vector<std::string> all;
  for (const char* index : {"0", "1", "2"}) {
    const std::string file = std::string(" -o b") + index + ".json";
    ASSERT_EQ(run(measure + balanced + index + file).exit_code, 0);
    EXPECT_EQ(keys(std::string("b") + index + ".json").size(), 2U) << "three cases are one for each of three";
    EXPECT_EQ(run("check" + std::string(few_of_tiny) + balanced + index).exit_code, 0);
  }
  ASSERT_EQ(run("merge b0.json b1.json b2.json -o all.json").exit_code, 0);
  EXPECT_EQ(keys("all.json"), keys("before.json"));
  EXPECT_THAT(run("merge b0.json b2.json -o less.json").errors,
              HasSubstr("--shard-index 1 --shard-durations before.json -o b1.json"));

  folder_.write("bad.json", "{}");
  const Finished bad = run(measure + "--shard-durations bad.json --shard-count 3 --shard-index 0");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.errors, HasSubstr("bad.json"));
  const Finished alone = run(measure + "--shard-durations before.json");
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.errors, HasSubstr("--shard-durations: balances shards"));
}

TEST_F(Engine, WithholdsSecondsOfShardsFromDifferentMachines) {
  const std::string measure =
      std::string("run --launches 2") + few_of_tiny + "--shard-count 2 --shard-index ";
  ASSERT_EQ(run(measure + "0 -o s0.json").exit_code, 0);
  ASSERT_EQ(run(measure + "1 -o s1.json").exit_code, 0);
  Json other = Json::parse(folder_.read("s1.json"));
  for (Json& fact : other.at("machine").at("facts")) {
    if (fact.at("name") == "processor") fact.at("value") = "another processor";
  }
  folder_.write("s1.json", other.dump());
  const Finished merged = run("merge s0.json s1.json -o all.json");
  EXPECT_EQ(merged.exit_code, 0) << merged.errors;
  EXPECT_THAT(merged.output, AllOf(HasSubstr("withheld"), HasSubstr("differ in\n  processor")));
  EXPECT_THAT(run("report all.json").output, HasSubstr("their seconds do not add up"));
  EXPECT_THAT(run("compare all.json all.json").output, HasSubstr("not comparable"));
}

TEST_F(Engine, CallsAShardWithoutCasesASuccessThatItNames) {
  for (const char* verb : {"check", "run -o r.json", "gate"}) {
    const Finished done = run(verb + std::string(few_of_tiny) + "--shard-count 4 --shard-index 2");
    EXPECT_EQ(done.exit_code, 0) << verb << done.output << done.errors;
    EXPECT_THAT(done.last_lines(1),
                HasSubstr("NOTHING TO DO: shard 2 of 0 to 3 holds none of the 3 selected cases"))
        << verb;
  }
  EXPECT_THAT(keys("r.json"), IsEmpty());
  EXPECT_EQ(run("run --suite tiny.json -k nothing_like_it --shard-count 4 --shard-index 2").exit_code, 2);
}

TEST_F(Engine, RefusesSourcesOfShardsThatDiffer) {
  const Finished done = run(std::string("run") + few_of_tiny + "--shard-count 2 --shard-index 0",
                            "TEST_TOTAL_SHARDS=2 TEST_SHARD_INDEX=1");
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.errors, HasSubstr("TEST_SHARD_INDEX: means shard index 1, and --shard-index means 0"));
}

TEST_F(Engine, SaysThatCornerCasesAreNotDivided) {
  const Finished done =
      run("check gemm/packed", "GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=1 GTEST_SHARD_STATUS_FILE=touched");
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.errors, HasSubstr("not divided among shards"));
  EXPECT_THAT(folder_.listing(), Not(HasSubstr("touched")));
}

TEST_F(Engine, RecordsNoBaselineOfAPart) {
  const Finished done =
      run(std::string("gate --record-missing b --shard-count 2 --shard-index 0") + few_of_tiny);
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.errors,
              HasSubstr("--record-missing: speaks for the whole suite, and this is one of 2 shards"));
}

TEST_F(Engine, GatesAShardAgainstTheBaselineOfTheWhole) {
  ASSERT_EQ(run(std::string("gate --launches 3 --record-missing b") + few_of_tiny).exit_code, 0);
  const Finished done =
      run(std::string("gate --launches 3 --baselines b --limit 50 --json - --shard-count 2 --shard-index 0") +
          few_of_tiny);
  EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
  const Json report = Json::parse(done.output);
  EXPECT_EQ(report.at("outcome").at("counts").at("verdict: gone"), 0);
  EXPECT_LT(report.at("comparison").at("verdicts").size(), 6U);
}

TEST_F(Engine, ExitsForBisectionWithGoodBadOrCannotBeJudged) {
  const std::string bisect = " --exit-code=bisect";
  EXPECT_EQ(run("check gemm/packed" + bisect).exit_code, 0);
  EXPECT_EQ(run("check gemm/planted" + bisect, "ASSAY_FAULT=wrong").exit_code, 1);
  for (const char* cannot : {"check --suite missing.json", "check nothing_like_it", "gate --no-such-option",
                             "gate --suite tiny.json --launches 1 -k flat"}) {
    EXPECT_EQ(run(cannot + bisect).exit_code, 125) << cannot;
    EXPECT_NE(run(cannot).exit_code, 125) << cannot;
  }
}

TEST_F(Engine, TellsGithubAndJUnitReadersWhatIsWrong) {
  const Finished done = run("gate --suite tiny.json --launches 1 -k planted --junit j.xml",
                            "ASSAY_FAULT=wrong GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary.md "
                            "GITHUB_OUTPUT=outputs");
  EXPECT_EQ(done.exit_code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("\n::error title=disagreement in tiny::gemm/planted/"));
  EXPECT_THAT(folder_.read("summary.md"), AllOf(HasSubstr("### WRONG: gemm/planted"), HasSubstr("2 wrong")));
  EXPECT_EQ(folder_.read("outputs"), "verdict=wrong\nregressions=0\n");
  const std::string junit = folder_.read("j.xml");
  EXPECT_THAT(junit, AllOf(HasSubstr("failures=\"2\""), HasSubstr("type=\"disagreement\""),
                           HasSubstr("assay_planted gate --suite tiny.json"),
                           HasSubstr("there is no baseline that it compares with")));
}

TEST_F(Engine, TellsGithubAndJUnitReadersOfATimeThatNoKernelCanReach) {
  // Large enough that no reading of a clock is a part of its roof.
  folder_.write("large.json", R"({"schema": 1, "name": "large", "about": "one product", "steps_per_epoch": 10,
 "cases": [{"op": "gemm", "m": 96, "n": 96, "k": 97, "per_step": 1}]})");
  const Finished done = run("gate --suite large.json --launches 1 -k gemm/packed --junit j.xml",
                            "ASSAY_FAULT=idle GITHUB_ACTIONS=true GITHUB_OUTPUT=outputs");
  EXPECT_EQ(done.exit_code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("\n::error title=impossible time in large::gemm/packed/"));
  EXPECT_EQ(folder_.read("outputs"), "verdict=impossible\nregressions=0\n");
  EXPECT_THAT(folder_.read("j.xml"), AllOf(HasSubstr("failures=\"1\""), HasSubstr("type=\"impossible\"")));
}

TEST_F(Engine, WritesJUnitWhereBazelAsksForItAndTakesItsFilter) {
  const Finished done = run("gate --suite tiny.json --launches 1",
                            "XML_OUTPUT_FILE=test.xml TESTBRIDGE_TEST_ONLY=elementwise_add/flat");
  EXPECT_EQ(done.exit_code, 3) << done.output << done.errors;
  EXPECT_THAT(folder_.read("test.xml"),
              AllOf(HasSubstr("tests=\"3\" failures=\"0\" errors=\"1\""), HasSubstr("tiny.elementwise_add"),
                    HasSubstr("NOT COMPARABLE")));
}

}  // namespace
}  // namespace assay::testing
