// Tests the parts of an epoch beside its steps: checkpoints and validation come at the right steps, read the
// right data, and leave the training as it is.

#include "assay/error.hpp"
#include "train_step/image_file_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

namespace assay::train_step {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

/// 16 steps, with a checkpoint after the 5th, the 10th and the 15th, and batches of 4, 4 and 2 for
/// validation.
TrainingPlan plan_with_both(Index workers) {
  TrainingPlan out = small_plan();
  out.validation_samples = 10;
  out.checkpoint_every = 5;
  out.workers = workers;
  return out;
}

std::vector<float> losses_in(const std::vector<StepTimes>& steps) {
  std::vector<float> out;
  for (const StepTimes& step : steps) out.push_back(step.mean_loss);
  return out;
}

std::vector<float> losses_in(const std::vector<ValidationTimes>& batches) {
  std::vector<float> out;
  for (const ValidationTimes& batch : batches) out.push_back(batch.mean_loss);
  return out;
}

TEST(TrainingPlans, CountValidationAndCheckpoints) {
  const TrainingPlan plan = plan_with_both(0);
  EXPECT_EQ(plan.steps(), 16);
  EXPECT_EQ(plan.checkpoints(), 3);
  EXPECT_EQ(plan.validation_steps(), 3);
  EXPECT_EQ(plan.validation_size(1), 4);
  EXPECT_EQ(plan.validation_size(2), 2);
  EXPECT_EQ(small_plan().validation_steps(), 0);
  EXPECT_EQ(small_plan().checkpoints(), 0);
}

TEST(EpochThreads, ComeBeforeValidationAndWithCheckpointsBetweenSteps) {
  for (const Index workers : {0, 2}) {
    const EpochTimes epoch = TrainingMaker::made(plan_with_both(workers))->train_epoch({});
    ASSERT_THAT(epoch.steps, SizeIs(16));
    ASSERT_THAT(epoch.checkpoints, SizeIs(3));
    for (std::size_t i = 0; i < 3; ++i) {
      const CheckpointTimes& one = epoch.checkpoints[i];
      const std::size_t after = 5 * (i + 1);
      EXPECT_EQ(one.step, static_cast<Index>(after));
      EXPECT_EQ(one.begin, epoch.steps[after - 1].end);
      EXPECT_EQ(one.end, epoch.steps[after].begin);
      EXPECT_GT(one.end, one.begin);
    }
    ASSERT_THAT(epoch.validation, SizeIs(3));
    EXPECT_GE(epoch.validation.front().begin, epoch.steps.back().end);
    for (const ValidationTimes& one : epoch.validation) {
      EXPECT_GT(one.load, 0);
      EXPECT_GT(one.forward, 0);
      EXPECT_GE(one.end - one.begin, one.load + one.forward + one.loss);
    }
    double steps = 0;
    for (const StepTimes& one : epoch.steps) steps += one.end - one.begin;
    EXPECT_LE(steps + epoch.checkpoint_seconds() + epoch.validation_seconds(), epoch.seconds);
  }
}

TEST(EpochThreads, TrainAsIfThereWereNoCheckpointsAndNoValidation) {
  const auto with = TrainingMaker::made(plan_with_both(2))->train_epoch({});
  const auto alone = TrainingMaker::made(plan_with_both(0));
  std::vector<StepTimes> without;
  alone->train({.steps = 16}, without, {});
  EXPECT_EQ(losses_in(with.steps), losses_in(without));
  EXPECT_EQ(losses_in(with.validation), losses_in(alone->train_epoch({}).validation));
}

TEST(Epochs, HaveNeitherWhereThePlanHasNone) {
  const auto training = TrainingMaker::made(small_plan());
  const EpochTimes epoch = training->train_epoch({});
  EXPECT_THAT(epoch.checkpoints, IsEmpty());
  EXPECT_THAT(epoch.validation, IsEmpty());
  EXPECT_THAT(training->validate_alone(3), IsEmpty());
}

TEST(Epochs, AreStoppedBetweenBatchesOfValidationToo) {
  int asked = 0;
  const EpochTimes epoch = TrainingMaker::made(plan_with_both(0))->train_epoch([&] { return ++asked == 18; });
  EXPECT_THAT(epoch.steps, SizeIs(16));
  EXPECT_THAT(epoch.validation, SizeIs(2));
}

TEST(Epochs, ThatAreStoppedBetweenStepsAreNotValidated) {
  int asked = 0;
  const EpochTimes epoch = TrainingMaker::made(plan_with_both(0))->train_epoch([&] { return ++asked == 6; });
  EXPECT_THAT(epoch.steps, SizeIs(6));
  EXPECT_THAT(epoch.checkpoints, SizeIs(1));
  EXPECT_THAT(epoch.validation, IsEmpty());
}

// The four records of the first batch of validation are those of the first step, in their order; so is the
// loss.
TEST(Validation, IsTheLossOfTheRecordsBehindThoseOfTheEpoch) {
  const TrainingPlan shape = small_plan();
  const ImageFile file([&](Index i) { return i >= 61 && i < 65 ? sample_at(shape, i - 61) : i; });
  TrainingPlan plan = small_plan(file);
  plan.validation_samples = 10;
  const auto training = TrainingMaker::made(plan);
  std::vector<StepTimes> steps;
  training->train({.steps = 1}, steps, {});
  const auto validation = training->validate_alone(3);
  ASSERT_THAT(validation, SizeIs(3));
  EXPECT_EQ(validation[0].mean_loss, steps[0].mean_loss);
  EXPECT_NE(validation[1].mean_loss, steps[0].mean_loss);
}

TEST(Validation, ReadsNoRecordOfTheEpochAndTheEpochNoneOfValidation) {
  const ImageFile bad_sample(Index{30}), bad_validation(Index{61 + 9});
  TrainingPlan plan = small_plan(bad_sample);
  plan.validation_samples = 10;
  EXPECT_THAT(TrainingMaker::made(plan)->validate_alone(3), SizeIs(3));
  plan.records = bad_validation.path();
  const auto training = TrainingMaker::made(plan);
  std::vector<StepTimes> steps;
  training->train({.steps = 16}, steps, {});
  EXPECT_THAT(steps, SizeIs(16));
  EXPECT_THAT([&] { training->train_epoch({}); }, ThrowsMessage<Error>(HasSubstr("has label 77")));
}

/// Another folder for files that nobody keeps.
class ScratchFolderOfATest {
 public:
  explicit ScratchFolderOfATest(const char* name)
      : path_(fs::temp_directory_path() / ("assay_" + std::to_string(::getpid()) + "_" + name)) {
    if (const char* const own = std::getenv("TMPDIR")) before_ = own;
    ::setenv("TMPDIR", path_.c_str(), 1);
  }
  ~ScratchFolderOfATest() {
    if (before_) {
      ::setenv("TMPDIR", before_->c_str(), 1);
    } else {
      ::unsetenv("TMPDIR");
    }
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolderOfATest(const ScratchFolderOfATest&) = delete;
  ScratchFolderOfATest& operator=(const ScratchFolderOfATest&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  std::optional<std::string> before_;
};

TEST(Checkpoints, LieInOneFolderThatGoesWithTheTraining) {
  const ScratchFolderOfATest scratch("checkpoints");
  fs::create_directory(scratch.path());
  {
    const auto training = TrainingMaker::made(plan_with_both(0));
    EXPECT_TRUE(fs::is_empty(scratch.path())) << "before the first";
    const std::vector<double> seconds = training->checkpoint_alone(3);
    EXPECT_THAT(seconds, SizeIs(3));
    EXPECT_THAT(seconds, Each(Gt(0)));
    training->train_epoch({});
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(scratch.path())) {
      if (entry.is_regular_file()) files.push_back(entry.path().filename().string());
    }
    EXPECT_THAT(files, ElementsAre("parameters.checkpoint"));
  }
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(EpochThreads, PassOnThatACheckpointCannotBeWritten) {
  const auto training = TrainingMaker::made(plan_with_both(2));
  const ScratchFolderOfATest nowhere("nowhere");
  EXPECT_THAT([&] { training->train_epoch({}); },
              ThrowsMessage<Error>(::testing::AllOf(HasSubstr(nowhere.path().string()),
                                                    HasSubstr("cannot make"), HasSubstr("set TMPDIR"))));
  std::vector<StepTimes> steps;
  training->train({.steps = 16}, steps, {});
  EXPECT_THAT(steps, SizeIs(16));
}

}  // namespace
}  // namespace assay::train_step
