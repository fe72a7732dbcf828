#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "bench/report/hand_made_test.hpp"
#include "training/job/scratch_file_test.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <thread>

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

/// A stream of a process that ended long ago: 2^22 is the largest number of a process.
std::string ended(std::initializer_list<const char*> lines) {
  std::string out = stream;
  for (const char* const line : lines) out += std::string(line) + ",4194305,16,0\n";
  return out;
}

// Two epochs of two steps, each with a validation of two.
TEST(PredictVerb, WatchesUntilTheEpochIsOver) {
  const std::string lines = ended({"0,0.1,0.05,8,training", "1,0.1,0.05,8,training", "0,0.01,0,8,validation",
                                   "1,0.01,0,8,validation", "0,0.2,0.05,8,training", "1,0.2,0.05,8,training",
                                   "0,0.01,0,8,validation", "1,0.01,0,8,validation"});
  const ScratchFile file(lines), json;
  Ran ran = run(
      {.files = {file.path()}, .watch = true, .outputs = {.markdown = {}, .page = {}, .json = json.path()}});
  EXPECT_EQ(ran.code, exit_code::passed);
  EXPECT_THAT(ran.output, HasSubstr("step 2 of 2: left 0"));
  EXPECT_THAT(ran.output, HasSubstr("left 0 ns, then validation 0 ns")) << "all of it is over";
  EXPECT_THAT(read_file(json.path()), HasSubstr("assay.forecast"));
  const auto without_last = [&](int count) {
    std::string out = lines;
    for (; count > 0; --count) out.erase(out.rfind('\n', out.size() - 2) + 1);
    return out;
  };
  const ScratchFile validates(without_last(1)), trains(without_last(3)), foreign("ms\n1\n");
  ran = run({.files = {validates.path()}, .watch = true});
  EXPECT_EQ(ran.code, exit_code::undecided) << "it ended before";
  EXPECT_THAT(ran.output, HasSubstr("step 2 of 2: left 0 ns, then validation 10.0 ms")) << "half of it";
  EXPECT_EQ(run({.files = {trains.path()}, .watch = true}).code, exit_code::undecided) << "it ended before";
  EXPECT_THAT([&] { run({.files = {foreign.path()}, .facts = {.unit = "ms"}, .watch = true}); },
              ThrowsMessage<Error>(HasSubstr("ASSAY_STEPS")));
}

TEST(PredictVerb, NamesTheValidationThatNoStepOfAStreamTells) {
  const ScratchFile file(ended({"0,0.1,0.05,8,training", "1,0.1,0.05,8,training"}));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run({.files = {file.path()}, .watch = true}).code, exit_code::passed);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("left out: validation and evaluation: --validation-size"));
  EXPECT_THAT(said, HasSubstr("left out: checkpoints"));
}

TEST(PredictVerb, WatchesOneFileAlone) {
  const ScratchFile file(stream);
  EXPECT_THAT([&] { run({.files = {file.path()}, .facts = {.against = file.path()}, .watch = true}); },
              ThrowsMessage<Error>(HasSubstr("leave out other files and --against")));
}

// The file is written once the verb has said that it waits.
TEST(PredictVerb, WaitsForTheFirstStep) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path() / "steps";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  std::string said;
  std::thread reader([&] {
    char byte = 0;
    while (::read(ends[0], &byte, 1) == 1) {
      said += byte;
      if (byte == '\n' && !std::filesystem::exists(file))
        write_file(file, ended({"0,0.1,0.05,8,training", "1,0.1,0.05,8,training"}));
    }
  });
  const Ran ran = run({.files = {file}, .watch = true});
  dup2(before, STDERR_FILENO);
  close(before);
  reader.join();
  close(ends[0]);
  EXPECT_EQ(ran.code, exit_code::passed);
  EXPECT_THAT(ran.output, HasSubstr("step 2 of 2"));
  EXPECT_THAT(said, ::testing::StartsWith("waits for the first step of a training with ASSAY_STEPS="));
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
