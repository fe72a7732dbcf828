// A gate of two builds from the outside. One build is the program, the other a script that starts it without
// the fault.

#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr const char* suite_of_two =
    R"({"schema": 1, "name": "tiny", "about": "end to end", "steps_per_epoch": 1000,
 "cases": [{"op": "gemm", "m": 24, "n": 24, "k": 25, "per_step": 2},
           {"op": "elementwise_add", "n": 1, "c": 2, "h": 16, "w": 16, "per_step": 1}]})";

class TwoBuilds : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("tiny.json", suite_of_two);
    const auto base = folder_.write(
        "base", std::string("#!/bin/sh\nunset ASSAY_FAULT\nexec '") + ASSAY_PROGRAM + "' \"$@\"\n");
    std::filesystem::permissions(base, std::filesystem::perms::owner_all);
  }
  Finished gate(const std::string& arguments, const std::string& plant = "") {
    return run_program("gate --base ./base --suite tiny.json --identical " + arguments, folder_.path(),
                       plant);
  }
  Folder folder_;
};

TEST_F(TwoBuilds, NameAPlantedSlowDownWithItsCostAndTheCommandThatRepeatsIt) {
  folder_.write("other.json",
                R"({"schema": 1, "name": "other", "about": "x", "cases": [{"op": "no_such"}]})");
  folder_.write("results.json", R"({"schema": "assay.results/1", "trials": []})");
  folder_.write("kept/README.md", "");
  const Finished done =
      gate("-k gemm/packed --threads 1 --baselines kept -o run.json --md comment.md", "slower=4");
  EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("REGRESSION: 1 of 1 trial"));
  EXPECT_THAT(done.last_lines(2), HasSubstr("--baselines kept"));
  EXPECT_THAT(done.errors, AllOf(HasSubstr("other.json"), Not(HasSubstr("results.json"))));
  EXPECT_THAT(done.output, HasSubstr("since programs are\n  compared"));
  EXPECT_THAT(done.output, AllOf(HasSubstr("x slower ["), HasSubstr("more per epoch of tiny"),
                                 HasSubstr("assay_planted gate --base ./base")));
  EXPECT_THAT(folder_.read("comment.md"), HasSubstr("✗"));

  const Finished again = run_program("reanalyze run.json", folder_.path());
  EXPECT_EQ(again.exit_code, 1) << "the same samples give the same verdict: " << again.errors;
  EXPECT_EQ(again.output, done.output);
}

TEST_F(TwoBuilds, InShardsFindInTheWholeWhatOneOfThemFound) {
  folder_.write("pair.json", R"({"schema": 1, "name": "pair", "about": "end to end", "cases": [
    {"op": "gemm", "m": 24, "n": 24, "k": 24}, {"op": "gemm", "m": 24, "n": 24, "k": 25}]})");
  const auto shard = [&](const std::string& index) {
    return run_program(
        "gate --base ./base --suite pair.json --identical -k gemm/packed --threads 1 --shard-count 2 "
        "--shard-index " +
            index + " -o " + index + ".json",
        folder_.path(), "slower=4");
  };
  for (const char* index : {"0", "1"}) {
    const Finished done = shard(index);
    EXPECT_THAT(done.last_lines(1), AnyOf(HasSubstr("REGRESSION"), HasSubstr("holds none"))) << done.errors;
  }
  const Finished half = run_program("merge 0.json -o whole.json", folder_.path());
  EXPECT_EQ(half.exit_code, 3) << "incomplete";
  EXPECT_THAT(half.errors,
              AllOf(HasSubstr("lacks shard 1 of 0 to 1"), HasSubstr(" -k gemm/packed --shard-count 2")));

  const Finished whole = run_program("merge 1.json 0.json -o whole.json", folder_.path());
  EXPECT_EQ(whole.exit_code, 1) << whole.output << whole.errors;
  EXPECT_THAT(whole.last_lines(1), HasSubstr("REGRESSION: 2 of 2 trials"));
  EXPECT_EQ(run_program("reanalyze whole.json", folder_.path()).output, whole.output);
  const Finished step = gate("--shard-count 2 --shard-index 0 --record-step");
  EXPECT_EQ(step.exit_code, 2);
  EXPECT_THAT(step.errors, HasSubstr("--record-step"));
}

TEST_F(TwoBuilds, NeverTimeAHeadThatIsWrong) {
  const Finished done = run_program(std::string("gate --base '") + ASSAY_PROGRAM +
                                        "' --suite tiny.json -k 'gemm/planted' --identical -o run.json",
                                    folder_.path(), "wrong");
  EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("WRONG: gemm/planted of the head disagrees"));
  EXPECT_TRUE(Json::parse(folder_.read("run.json")).at("trials").at(0).at("launches").empty());
}

TEST_F(TwoBuilds, CallAHeadImpossibleThatIsFasterThanAnyKernelCanBe) {
  folder_.write("square.json", R"({"schema": 1, "name": "square", "about": "end to end", "cases": [
    {"op": "gemm", "m": 64, "n": 64, "k": 64}]})");
  const std::string square = " --suite square.json -k gemm/packed --threads 1 --identical --budget 8";
  const Finished done = run_program("gate --base ./base -o run.json" + square, folder_.path(), "idle");
  EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("IMPOSSIBLE: gemm/packed of the head is faster than any kernel"));
  EXPECT_THAT(done.output, HasSubstr("‼ gemm/packed/m=64,n=64,k=64#1"));
  EXPECT_EQ(run_program("reanalyze run.json", folder_.path()).output, done.output);
}

TEST_F(TwoBuilds, ExitAsCrashedWhenAKernelCrashes) {
  const Finished done = run_program(
      std::string("gate --base '") + ASSAY_PROGRAM + "' --suite tiny.json -k 'gemm/planted' --identical",
      folder_.path(), "crash");
  EXPECT_EQ(done.exit_code, 4) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("was ended by signal 6"));
}

// A plan without shared bytes takes no time, and all the memory there is.
TEST_F(TwoBuilds, CallAHigherPlanARegressionHoweverFastItIs) {
  folder_.write("plans.json", R"({"schema": 1, "name": "plans", "about": "end to end", "cases": [
    {"op": "memory_pool_plan", "blocks": 100, "pattern": "nested"}]})");
  const auto base = folder_.write(
      "low", std::string("#!/bin/sh\nexec env ASSAY_FAULT=plan=low '") + ASSAY_PROGRAM + "' \"$@\"\n");
  std::filesystem::permissions(base, std::filesystem::perms::owner_all);
  const std::string plans = "gate --base ./low --suite plans.json -k planted --identical --budget 2 ";
  const Finished done = run_program(plans + "-o run.json --md comment.md", folder_.path(), "plan=high");
  EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), ContainsRegex("REGRESSION: height [0-9,]+ → [0-9,]+ bytes \\([0-9.]+ % "
                                                "more\\) in memory_pool_plan/planted/blocks=100"));
  EXPECT_THAT(done.output, HasSubstr("✗ memory_pool_plan/planted/blocks=100"));
  EXPECT_THAT(folder_.read("comment.md"),
              ContainsRegex("\\* ✗ `memory_pool_plan/planted/.*: height .* more"));
  EXPECT_EQ(run_program("reanalyze run.json", folder_.path()).output, done.output);
  const Finished equal = run_program(plans, folder_.path(), "plan=low");
  EXPECT_THAT(equal.output, AllOf(Not(HasSubstr("REGRESSION: height")), Not(HasSubstr(" more)"))));
}

TEST_F(TwoBuilds, AreComparedByTheHeightsInTheirResults) {
  folder_.write("plans.json", R"({"schema": 1, "name": "plans", "about": "end to end", "cases": [
    {"op": "memory_pool_plan", "blocks": 100, "pattern": "nested"}]})");
  for (const std::string plan : {"low", "high"}) {
    const Finished run = run_program("run --suite plans.json -k planted --launches 1 -o " + plan + ".json",
                                     folder_.path(), "plan=" + plan);
    EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
  }
  const Finished higher = run_program("compare low.json high.json", folder_.path());
  EXPECT_EQ(higher.exit_code, 1) << higher.output << higher.errors;
  EXPECT_THAT(higher.last_lines(1), HasSubstr("REGRESSION: height "));
  const Finished lower = run_program("compare high.json low.json", folder_.path());
  EXPECT_NE(lower.exit_code, 1) << lower.output;
  EXPECT_THAT(lower.output, AllOf(HasSubstr("1 figure better"), HasSubstr(" % less)")));
  const Finished equal = run_program("compare low.json low.json", folder_.path());
  EXPECT_NE(equal.exit_code, 1) << equal.output;
  EXPECT_THAT(equal.output, AllOf(HasSubstr("2 figures as before"), HasSubstr(" bytes as before")));
  const Finished report = run_program("report low.json", folder_.path());
  EXPECT_THAT(report.output, HasSubstr("| height, lower is better | "));
}

constexpr const char* trace_of_three = "id,lower,upper,size\na,0,2,640\nb,1,4,64\nc,3,5,640\n";

// The suite and its trace lie in a folder of their own, and no process works there.
TEST_F(TwoBuilds, PlanTheMemoryOfATraceBesideTheSuite) {
  folder_.write("nets/plans.json", R"({"schema": 1, "name": "plans", "about": "end to end", "cases": [
    {"op": "memory_pool_plan", "trace": "net.csv"}]})");
  folder_.write("nets/net.csv", trace_of_three);
  const auto base = folder_.write(
      "low", std::string("#!/bin/sh\nexec env ASSAY_FAULT=plan=low '") + ASSAY_PROGRAM + "' \"$@\"\n");
  std::filesystem::permissions(base, std::filesystem::perms::owner_all);
  const Finished done =
      run_program("gate --base ./low --suite nets/plans.json -k planted --identical --budget 2 -o run.json",
                  folder_.path(), "plan=high");
  EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
  // Two live at once, 640 bytes and 64; in a row all three are 640 + 64 + 640.
  EXPECT_THAT(done.last_lines(1), HasSubstr("REGRESSION: height 704 → 1,344 bytes (90.9 % more) in "
                                            "memory_pool_plan/planted/trace=net.csv#1"));
  EXPECT_EQ(run_program("reanalyze run.json", folder_.path()).output, done.output);
  const Finished checked = run_program("check memory_pool_plan/trace=nets/net.csv", folder_.path());
  EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
}

TEST_F(TwoBuilds, CannotBeComparedByTimesOfATraceThatChanged) {
  folder_.write("plans.json", R"({"schema": 1, "name": "plans", "about": "end to end", "cases": [
    {"op": "memory_pool_plan", "trace": "net.csv"}]})");
  folder_.write("net.csv", trace_of_three);
  const Finished recorded =
      run_program("record --suite plans.json --launches 1 --baselines b --reason first", folder_.path());
  ASSERT_EQ(recorded.exit_code, 0) << recorded.output << recorded.errors;
  const std::string gate = "gate --suite plans.json --baselines b --launches 1 -k by_size";
  const Finished before = run_program(gate, folder_.path());
  EXPECT_THAT(before.output, Not(HasSubstr("is another workload"))) << before.errors;
  folder_.write("net.csv", std::string(trace_of_three) + "d,0,5,64\n");
  const Finished after = run_program(gate, folder_.path());
  EXPECT_EQ(after.exit_code, 3) << after.output << after.errors;
  EXPECT_THAT(after.last_lines(1), HasSubstr("NOT COMPARABLE"));
  EXPECT_THAT(after.output, HasSubstr("memory_pool_plan/by_size/trace=net.csv#1"));
  std::filesystem::remove(folder_.path() / "net.csv");
  const Finished missing = run_program(gate, folder_.path());
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.errors, AllOf(HasSubstr("plans.json: cases[0] (memory_pool_plan): trace: "),
                                    HasSubstr("net.csv: is not there")));
}

// A base whose inputs differ did other work: that its code is identical says nothing then.
TEST_F(TwoBuilds, WhoseWorkloadsAllDifferAreUndecidedAndNotIdentical) {
  const auto other = folder_.write(
      "other", std::string("#!/bin/sh\n[ \"$1\" = describe ] && sed -i 's/\"seed\": *[0-9]*/\"seed\": 7/' "
                           "\"$2\"\nexec '") +
                   ASSAY_PROGRAM + "' \"$@\"\n");
  std::filesystem::permissions(other, std::filesystem::perms::owner_all);
  const Finished done = run_program("gate --base ./other --suite tiny.json", folder_.path());
  EXPECT_EQ(done.exit_code, 3) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("cannot be compared"));
}

TEST_F(TwoBuilds, WithNothingInCommonAreUndecided) {
  const Finished done = gate("-k gemm/planted", "wrong");
  EXPECT_EQ(done.exit_code, 3) << done.output << done.errors;
  EXPECT_THAT(done.output, HasSubstr("added"));
}

TEST_F(TwoBuilds, SayWhatIsWrongWithAProgramThatTakesNoTurns) {
  const Finished no_program = run_program("gate --base /bin/true --suite tiny.json", folder_.path());
  EXPECT_EQ(no_program.exit_code, 2);
  EXPECT_THAT(no_program.errors, HasSubstr("/bin/true"));
  const Finished missing = run_program("gate --base ./nothing --suite tiny.json", folder_.path());
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.errors, HasSubstr("nothing"));
  const Finished alone = run_program("gate --base ./base", folder_.path());
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.errors, HasSubstr("--suite"));
}

TEST_F(TwoBuilds, RefuseOptionsThatTheyWouldIgnore) {
  struct Refused {
    std::string arguments, complaint;
  };
  for (const auto& [arguments, complaint] : std::vector<Refused>{
           {"--base ./base --suite tiny.json --layouts 8", "--layouts: is of sides that are built"},
           {"--base HEAD --head ./base --suite tiny.json --merge-base", "--head ./base is a program"},
           {"--base ./base --head ./base --identical",
            "--identical: does nothing for `assay gate --base --head`"},
           {"--base ./base --head ./base --threads 1",
            "--threads: does nothing for `assay gate --base --head`"},
           {"--base ./base --head ./base --layouts 2",
            "--layouts: does nothing for `assay gate --base --head`"},
           {"--base ./base --head ./base --merge-base",
            "--merge-base: does nothing for `assay gate --base --head`"}}) {
    const Finished done = run_program("gate " + arguments, folder_.path());
    EXPECT_EQ(done.exit_code, 2) << arguments << done.output;
    EXPECT_THAT(done.errors, HasSubstr(complaint)) << arguments;
  }
}

TEST_F(TwoBuilds, FindWhatTheSelfTestPlants) {
  const Finished done = run_program(
      "selftest --suite tiny.json -k 'packed|flat' --runs 0 --planted-runs 1 --plant 2 -o raw.jsonl --md "
      "report.md",
      folder_.path());
  EXPECT_THAT(folder_.read("report.md"), AllOf(HasSubstr("| 200 % | "), HasSubstr("1 of 1 ")));
  Json gate = Json::parse(folder_.read("raw.jsonl"));
  EXPECT_EQ(gate.at("schema"), "assay.two_builds/1");

  const Finished twice = run_program("selftest --again raw.jsonl ./raw.jsonl", folder_.path());
  EXPECT_EQ(twice.exit_code, 2) << twice.output;
  EXPECT_THAT(twice.errors, HasSubstr("holds what another of the files holds"));
  gate["partial"] = true;
  folder_.write("partial.jsonl", gate.dump());
  const Finished partial = run_program("selftest --again partial.jsonl", folder_.path());
  EXPECT_EQ(partial.exit_code, 3) << partial.output << partial.errors;
  EXPECT_THAT(partial.output, HasSubstr("1 unfinished gate was left out"));
  EXPECT_THAT(partial.last_lines(1), HasSubstr("UNDECIDED: no run was finished"));
}

TEST_F(TwoBuilds, FailASelfTestInWhichATimeCannotBe) {
  folder_.write("large.json", R"({"schema": 1, "name": "large", "about": "one product", "steps_per_epoch": 10,
 "cases": [{"op": "gemm", "m": 96, "n": 96, "k": 97, "per_step": 1}]})");
  const std::string few = "selftest --suite large.json -k gemm/packed --runs 1 --planted-runs 0 --budget 2";
  const Finished done = run_program(few + " -o raw.jsonl", folder_.path(), "idle");
  EXPECT_EQ(done.exit_code, 1) << done.output << done.errors;
  EXPECT_THAT(done.last_lines(1), HasSubstr("IMPOSSIBLE: gemm/packed/m=96,n=96,k=97#1: took "));
  EXPECT_EQ(run_program("selftest --again raw.jsonl", folder_.path()).exit_code, 1);
}

TEST_F(TwoBuilds, RefuseASelfTestOfNoGate) {
  folder_.write("none.jsonl", "");
  const Finished again = run_program("selftest --again none.jsonl", folder_.path());
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.errors, HasSubstr("none.jsonl: holds no gate"));
  const Finished none = run_program("selftest --suite tiny.json --runs 0 --planted-runs 0", folder_.path());
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.errors, HasSubstr("are both 0"));
  folder_.write("kept.jsonl", "precious");
  const Finished typo =
      run_program("selftest --suite tiny.json -k no_such_trial -o kept.jsonl", folder_.path());
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_EQ(folder_.read("kept.jsonl"), "precious") << "what was kept stays until there is something to keep";
}

}  // namespace
}  // namespace assay::testing
