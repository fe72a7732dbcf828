// Trainings as a user runs them: predicted, run, tuned.
#include "program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace assay::testing {
namespace {

using Json = nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* job =
    R"({"schema": "assay.training/1", "name": "tiny", "channels": 1, "side": 8, "width": 2,
 "samples": 1030, "batch": 20, "workers": 1, "prefetch": 2})";

/// A machine that others use may change its pace between a prediction and its epoch, and one in ten misses
/// anyway.
const auto found_or_missed = AnyOf(0, 1);

/// Steps of microseconds, the control, may seem to have moved for every setting: nothing is decided then.
const auto found_or_undecided = AnyOf(0, 3);

class Epochs : public ::testing::Test {
 protected:
  void SetUp() override { folder_.write("tiny.json", job); }
  Finished run(const std::string& arguments) {
    return run_shell("'" ASSAY_PROGRAM "' " + arguments, folder_.path());
  }
  Folder folder_;
};

TEST_F(Epochs, ArePredictedInAFileBeforeTheyAreRunAndScoredAfter) {
  const Finished epoch =
      run("epoch --job tiny.json --frozen frozen.json --timeline trace.json --log log.jsonl --elsewhere --md "
          "e.md");
  ASSERT_THAT(epoch.exit_code, found_or_missed) << epoch.errors;
  EXPECT_EQ(epoch.exit_code == 1, epoch.output.find("\nMISSED: ") != std::string::npos) << epoch.output;
  EXPECT_THAT(epoch.output, HasSubstr("frozen at "));
  EXPECT_THAT(epoch.output, HasSubstr("M4"));
  EXPECT_TRUE(Json::accept(folder_.read("frozen.json")));
  const Json trace = Json::parse(folder_.read("trace.json"));
  std::size_t steps = 0;
  for (const Json& event : trace.at("traceEvents"))
    steps += event.at("name").get<std::string>().starts_with("step ") ? 1U : 0U;
  EXPECT_EQ(steps, 52U) << "51 batches of 20 and one of 10";
  const Json line = Json::parse(folder_.read("log.jsonl"));
  EXPECT_EQ(line.at("elsewhere").size(), 7U);
  const Finished score = run("epoch --score log.jsonl");
  EXPECT_EQ(score.exit_code, 0) << score.errors;
  EXPECT_THAT(score.output, HasSubstr("1 whole epochs"));
}

TEST_F(Epochs, RefuseALogThatIsNoneBeforeAnythingIsMeasured) {
  folder_.write("notes.txt", "not a log\n");
  const Finished epoch = run("epoch --job tiny.json --log notes.txt");
  EXPECT_EQ(epoch.exit_code, 2);
  EXPECT_THAT(epoch.errors, HasSubstr("notes.txt, line 1"));
  EXPECT_EQ(folder_.read("notes.txt"), "not a log\n");
}

TEST_F(Epochs, StopBeforeTheyBeginWhenOnlyThePredictionIsWanted) {
  const Finished epoch = run("epoch --job tiny.json --predict-only --log log.jsonl");
  EXPECT_EQ(epoch.exit_code, 0) << epoch.errors;
  EXPECT_THAT(folder_.listing(), ::testing::Not(HasSubstr("log.jsonl")));
}

TEST_F(Epochs, PrintJsonAndNothingElseWhereItIsAskedFor) {
  const Finished epoch = run("epoch --job tiny.json --json -");
  EXPECT_THAT(epoch.exit_code, found_or_missed) << epoch.errors;
  EXPECT_TRUE(Json::accept(epoch.output)) << epoch.output;
  EXPECT_THAT(epoch.errors, HasSubstr("frozen at "));
  const Finished two = run("epoch --job tiny.json --job tiny.json --frozen f.json");
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.errors, HasSubstr("--frozen"));
}

// Batches sleep for far longer than a step takes: two workers halve the time, whatever the machine does.
// Steps of microseconds, the control, may seem to have moved once in twenty records: nothing is decided in
// these.
TEST_F(Epochs, AreTunedToTheSettingThatIsKnownToBeBest) {
  std::string slow = job;
  slow.replace(slow.find("\"workers\": 1"), 12, "\"workers\": 0, \"batch_delay\": 0.05");
  folder_.write("slow.json", slow);
  std::string record = "CONFOUNDED";
  for (int tries = 0; tries < 4 && record.find("CONFOUNDED") != std::string::npos; ++tries) {
    const Finished tuned =
        run("tune loader --job slow.json --workers 0,2 --prefetch 1 --rounds 6 --run-seconds 0.1 --md adr.md "
            "-o best.json");
    ASSERT_THAT(tuned.exit_code, found_or_undecided) << tuned.errors;
    record = folder_.read("adr.md");
  }
  EXPECT_THAT(record, HasSubstr("RETAIN"));
  EXPECT_EQ(Json::parse(folder_.read("best.json")).at("workers"), 2);
}

TEST_F(Epochs, AreTunedToAnotherBatchWithTheJobsOwnStepsAsControl) {
  const Finished tuned =
      run("tune batch --job tiny.json --batch 20,200 --rounds 6 --run-seconds 0.02 --md adr.md -o best.json");
  ASSERT_THAT(tuned.exit_code, found_or_undecided) << tuned.errors;
  EXPECT_THAT(folder_.read("adr.md"), HasSubstr("| control |"));
  EXPECT_THAT(folder_.read("adr.md"), HasSubstr("batch 200"));
}

TEST_F(Epochs, AreTunedIntoADecisionRecordAndAJobThatCanBeRun) {
  const Finished tuned =
      run("tune loader --job tiny.json --workers 0,1 --prefetch 2 --rounds 6 --run-seconds 0.02 --md adr.md "
          "-o best.json");
  ASSERT_THAT(tuned.exit_code, found_or_undecided) << tuned.errors;
  EXPECT_THAT(folder_.read("adr.md"), HasSubstr("A step without any loading takes"));
  EXPECT_THAT(tuned.output, HasSubstr("samples/s"));
  EXPECT_EQ(run("epoch --job best.json --predict-only").exit_code, 0);
}

TEST_F(Epochs, SayWhatIsWrongWithAJob) {
  folder_.write("bad.json", R"({"schema": "assay.training/1", "name": "bad", "samples": 100, "batch": 10,
                                "network": "lstm"})");
  const Finished bad = run("epoch --job bad.json");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.errors, HasSubstr("classifier, transformer"));
  const Finished missing = run("epoch");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.errors, HasSubstr("--job"));
  const Finished rounds = run("tune loader --job tiny.json --rounds 3");
  EXPECT_EQ(rounds.exit_code, 2);
}

}  // namespace
}  // namespace assay::testing
