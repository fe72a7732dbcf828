#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "bench/report/hand_made_test.hpp"
#include "training/job/scratch_file_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Ran {
  int code = 0;
  std::string output;
};

Ran run(const PredictOptions& options) {
  ::testing::internal::CaptureStdout();
  Ran out;
  try {
    out.code = predict_verb(options).exit_code();
  } catch (...) {
    ::testing::internal::GetCapturedStdout();
    throw;
  }
  out.output = ::testing::internal::GetCapturedStdout();
  return out;
}

const char* const steps =
    "step,ms\n10,100\n11,101\n12,99\n13,100\n14,100\n15,101\n16,99\n17,100\n18,101\n19,99\n20,100\n21,100\n";
const char* const job = R"({"schema": "assay.job/1", "job": "j", "dataset": {"train": 1000, "batch": 100},
  "windows": [{"first_step": 0, "steps": 10, "wall_seconds": 1}])";

TEST(PredictVerb, PredictsFromStepTimesAndWhatIsKnownBeside) {
  const ScratchFile file(steps), markdown;
  const Ran ran = run({.files = {file.path()},
                       .facts = {.train = 1000, .batch = 100},
                       .outputs = {.markdown = markdown.path(), .page = {}, .json = {}}});
  EXPECT_EQ(ran.code, exit_code::passed);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("10 steps of 100"), HasSubstr("PREDICTED: 1.000 s")));
  EXPECT_THAT(read_file(markdown.path()), HasSubstr("PREDICTED: 1.000 s"));
}

TEST(PredictVerb, SaysWhatToAddWhereAnEpochHasNoSize) {
  const ScratchFile file(steps);
  EXPECT_THAT([&] { run({.files = {file.path()}, .facts = {.batch = 100}}); },
              ThrowsMessage<Error>(AllOf(HasSubstr("size of the data set"), HasSubstr("--train-size"))));
}

TEST(PredictVerb, ComparesWithNoOtherJob) {
  const ScratchFile file(std::string(job) + "}");
  std::string other = std::string(job) + "}";
  other.replace(other.find("\"batch\": 100"), 12, "\"batch\": 50");
  const ScratchFile later(other);
  EXPECT_THAT([&] { run({.files = {file.path()}, .facts = {.against = later.path()}}); },
              ThrowsMessage<Error>(AllOf(HasSubstr("--against"), HasSubstr("batch 50"))));
}

TEST(PredictVerb, ScoresNothingAgainstTimesThatCannotBe) {
  const ScratchFile file(std::string(job) + "}"),
      later(std::string(job) + R"(, "measured_epoch_seconds": 0})");
  const Ran ran = run({.files = {file.path()}, .facts = {.against = later.path()}});
  EXPECT_EQ(ran.code, exit_code::found);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("measured_epoch_seconds"), HasSubstr("NO PREDICTION")));
}

TEST(PredictVerb, ScoresALaterMeasurementWithoutTheSizeOfAnEpoch) {
  const ScratchFile file(steps), later("step,ms\n20,80\n21,80\n22,81\n23,79\n");
  const Ran ran = run({.files = {file.path()}, .facts = {.against = later.path()}});
  EXPECT_EQ(ran.code, exit_code::found);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("25.0 % too long"), HasSubstr("DRIFT")));
}

TEST(PredictVerb, FailsWhereALaterMeasurementLiesOutside) {
  const ScratchFile file(steps), later("step,ms\n30,300\n31,301\n32,300\n33,299\n");
  const Ran ran =
      run({.files = {file.path()}, .facts = {.against = later.path(), .train = 1000, .batch = 100}});
  EXPECT_EQ(ran.code, exit_code::found);
  EXPECT_THAT(ran.output, HasSubstr("MISSED: 4 steps from step 30 on"));
}

TEST(PredictVerb, RefusesAnEpochWithoutASingleStep) {
  const ScratchFile file(steps);
  EXPECT_THAT([&] { run({.files = {file.path()}, .facts = {.train = 10, .batch = 32, .drop_last = true}}); },
              ThrowsMessage<Error>(HasSubstr("a batch of 32 is dropped")));
}

const std::string stream = "step,step_s,load_s,samples,phase,process,train,workers\n";

// Two epochs of two steps, of a process that ended long ago: 2^22 is the largest number of a process.
TEST(PredictVerb, WatchesUntilTheEpochIsOver) {
  std::string lines = stream;
  for (const char* const line : {"0,0.1,0.05,8,training", "1,0.1,0.05,8,training", "0,0.01,0,8,validation",
                                 "0,0.2,0.05,8,training", "1,0.2,0.05,8,training"})
    lines += std::string(line) + ",4194305,16,0\n";
  const ScratchFile file(lines);
  const Ran ran = run({.files = {file.path()}, .watch = true});
  EXPECT_EQ(ran.code, exit_code::passed);
  EXPECT_THAT(ran.output, HasSubstr("step 2 of 2: left 0"));
  const ScratchFile cut(lines.substr(0, lines.rfind('\n', lines.size() - 2) + 9)), foreign("ms\n1\n");
  EXPECT_EQ(run({.files = {cut.path()}, .watch = true}).code, exit_code::undecided) << "it ended before";
  EXPECT_THAT([&] { run({.files = {foreign.path()}, .facts = {.unit = "ms"}, .watch = true}); },
              ThrowsMessage<Error>(HasSubstr("ASSAY_STEPS")));
}

TEST(PredictVerb, RefusesOptionsThatContradictTheFile) {
  const ScratchFile file(std::string(job) + "}");
  EXPECT_THAT([&] { run({.files = {file.path()}, .facts = {.batch = 200}}); },
              ThrowsMessage<Error>(HasSubstr("--batch: is 200, but")));
  EXPECT_EQ(run({.files = {file.path()}, .facts = {.batch = 100}}).code, exit_code::passed);
}

TEST(PredictVerb, FailsWhereFiguresContradictEachOther) {
  const ScratchFile file(std::string(job) + R"(, "claims": [{"throughput": "700/s"}]})");
  const Ran ran = run({.files = {file.path()}});
  EXPECT_EQ(ran.code, exit_code::found);
  EXPECT_THAT(ran.output, AllOf(HasSubstr("WRONG throughput"), HasSubstr("PREDICTED: 1.000 s")));
}

TEST(PredictVerb, PredictsNothingFromTimesBelowZero) {
  const ScratchFile file(std::string(job) + R"(, "phases": {"load": {"kind": "load", "mean_seconds": -1}}})");
  const Ran ran = run({.files = {file.path()}});
  EXPECT_EQ(ran.code, exit_code::found);
  EXPECT_THAT(ran.output, HasSubstr("NO PREDICTION"));
}

TEST(PredictVerb, IsUndecidedWhereNoModelHasWhatItNeeds) {
  const ScratchFile file(R"({"schema": "assay.job/1", "job": "j", "dataset": {"train": 1000, "batch": 100},
    "phases": {"forward": {"kind": "compute", "mean_seconds": 0.1}}})");
  EXPECT_EQ(run({.files = {file.path()}}).code, exit_code::undecided);
}

TEST(PredictVerb, TakesSeveralFilesForWindowsOfOneJob) {
  const ScratchFile first(steps), second("step,ms\n30,80\n31,80\n32,81\n33,79\n");
  const Ran ran = run({.files = {first.path(), second.path()}, .facts = {.train = 1000, .batch = 100}});
  EXPECT_EQ(ran.code, exit_code::undecided);
  EXPECT_THAT(ran.output,
              AllOf(HasSubstr("drift: the window from step 30 on"), HasSubstr("UNDECIDED: 950.0 ms")));
}

TEST(PredictVerb, PredictsTheEpochOfASuite) {
  const ScratchFile file(to_json(hand_made::network())), other(steps);
  const Ran ran = run({.files = {file.path()}});
  EXPECT_EQ(ran.code, exit_code::passed);
  EXPECT_THAT(ran.output, HasSubstr("PREDICTED: 1.73 ms"));
  EXPECT_THAT([&] { run({.files = {file.path(), other.path()}}); }, ThrowsMessage<Error>(HasSubstr("alone")));
  EXPECT_THAT([&] { run({.files = {file.path()}, .facts = {.batch = 7}}); },
              ThrowsMessage<Error>(AllOf(HasSubstr("--batch"), HasSubstr("results of a suite"))));
}

}  // namespace
}  // namespace assay
