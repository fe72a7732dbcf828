// Trainings of whole epochs with worker threads: which batches they train, and how they meet records that are
// bad or change, unusable plans, and threads that do not start.

#include "assay/error.hpp"
#include "data_loader/no_more_threads_test.hpp"
#include "train_step/image_file_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

namespace assay::train_step {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

auto error(const std::string& text) { return ThrowsMessage<Error>(HasSubstr(text)); }

std::vector<Index> counted(Index count) {
  std::vector<Index> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), Index{0});
  return out;
}

std::vector<Index> batches_of(const std::vector<StepTimes>& steps) {
  std::vector<Index> out;
  for (const StepTimes& step : steps) out.push_back(step.batch);
  return out;
}

std::vector<float> losses_of(const std::vector<StepTimes>& steps) {
  std::vector<float> out;
  for (const StepTimes& step : steps) out.push_back(step.mean_loss);
  return out;
}

std::vector<StepTimes> trained(Training& training, Index steps) {
  std::vector<StepTimes> out;
  training.train({.steps = steps}, out, {});
  return out;
}

/// Workers, batches ahead for each, and whether they are handed over in order.
class TrainingThreads : public ::testing::TestWithParam<std::tuple<Index, Index, bool>> {
 protected:
  static TrainingPlan with_workers(TrainingPlan plan) {
    std::tie(plan.workers, plan.prefetch, plan.in_order) = GetParam();
    return plan;
  }
  static std::unique_ptr<Training> made(const ImageFile& file) {
    return TrainingMaker::made(with_workers(small_plan(file)));
  }
};

TEST_P(TrainingThreads, TrainEachBatchOnceAndInOrderTakeTheCourseOfNone) {
  const ImageFile file;
  const auto training = made(file);
  for (const Index steps : {1, 5, 16}) {
    const std::vector<StepTimes> times = trained(*training, steps);
    std::vector<Index> batches = batches_of(times);
    if (!std::get<2>(GetParam())) std::ranges::sort(batches);
    EXPECT_EQ(batches, counted(steps));
    if (!std::get<2>(GetParam())) continue;
    const auto alone = TrainingMaker::made(small_plan(file));
    EXPECT_EQ(losses_of(times), losses_of(trained(*alone, steps)));
  }
}

TEST_P(TrainingThreads, TrainTheBatchesOfARangeAlone) {
  const ImageFile file;
  const auto training = made(file);
  std::vector<StepTimes> times;
  for (const StepRange range : {StepRange{5, 3}, StepRange{15, 1}, StepRange{0, 2}}) {
    training->train(range, times, {});
    std::vector<Index> batches = batches_of(times);
    std::ranges::sort(batches);
    ASSERT_THAT(batches, SizeIs(static_cast<std::size_t>(range.steps)));
    EXPECT_EQ(batches.front(), range.first);
    EXPECT_EQ(batches.back(), range.first + range.steps - 1);
  }
}

TEST_P(TrainingThreads, PassOnABadRecordOfAnyBatch) {
  for (const Index bad : {0, 7, 15}) {
    const ImageFile file(sample_at(small_plan(), 4 * bad));
    const auto training = made(file);
    EXPECT_THAT([&] { trained(*training, 16); }, error("has label 77"));
    EXPECT_THAT([&] { training->train_epoch({}); }, error("has label 77"));
    std::vector<Index> before = batches_of(trained(*training, bad));
    std::ranges::sort(before);
    EXPECT_EQ(before, counted(bad)) << "the batches before it are whole";
  }
}

TEST_P(TrainingThreads, StopWhenTheyAreToldTo) {
  const ImageFile file;
  const auto training = made(file);
  int asked = 0;
  std::vector<StepTimes> times;
  training->train({.steps = 16}, times, [&] { return ++asked == 3; });
  EXPECT_THAT(times, SizeIs(3));
  EXPECT_THAT(trained(*training, 16), SizeIs(16));
}

TEST_P(TrainingThreads, ThrowWhenTheFileIsTruncatedOrOverwrittenUnderThem) {
  const std::function<void(const ImageFile&)> truncated = [](const ImageFile& file) {
    fs::resize_file(file.path(), 4096 + 40 * ImageFile::bytes);
  };
  const std::function<void(const ImageFile&)> overwritten = [](const ImageFile& file) {
    file.overwrite(4096 + 5 * ImageFile::bytes + 1, "x");
  };
  for (const auto& [spoil, words] :
       {std::pair(truncated, "was truncated"), std::pair(overwritten, "was written to")}) {
    const ImageFile file;
    TrainingPlan plan = with_workers(small_plan(file));
    plan.validation_samples = 10;
    const auto training = TrainingMaker::made(plan);
    EXPECT_THAT(trained(*training, 16), SizeIs(16));
    spoil(file);
    EXPECT_THAT([&] { trained(*training, 16); }, error(words));
    EXPECT_THAT([&] { training->train_epoch({}); }, error(words));
    EXPECT_THAT([&] { training->load_alone(1); }, error(words));
    EXPECT_THAT([&] { training->train_alone(1); }, error(words));
    EXPECT_THAT([&] { training->validate_alone(1); }, error(words));
    EXPECT_THAT([&] { training->together(2, 1); }, error(words));
  }
}

TEST_P(TrainingThreads, GoOnWhenTheFileIsRemoved) {
  const ImageFile file;
  const auto training = made(file);
  fs::remove(file.path());
  EXPECT_THAT(trained(*training, 16), SizeIs(16));
}

INSTANTIATE_TEST_SUITE_P(All, TrainingThreads,
                         ::testing::Combine(::testing::Values(0, 1, 3), ::testing::Values(1, 4),
                                            ::testing::Bool()),
                         [](const auto& named) {
                           return std::to_string(std::get<0>(named.param)) + "_ahead_" +
                                  std::to_string(std::get<1>(named.param)) +
                                  (std::get<2>(named.param) ? "_in_order" : "_as_they_come");
                         });

TEST(TrainingThreadsOfAShortEpoch, MayBeMoreThanItHasBatches) {
  TrainingPlan plan = small_plan();
  plan.samples = 7;
  plan.workers = 5;
  plan.prefetch = 4;
  const auto training = TrainingMaker::made(plan);
  EXPECT_EQ(batches_of(trained(*training, 2)), counted(2));
  EXPECT_THAT(trained(*training, 0), SizeIs(0));
}

// Worker w begins with batch w: the second one meets the bad record, while the steps train batch 0 alone.
TEST(TrainingThreadsBesideSteps, PassOnWhatOneOfThemThrows) {
  const ImageFile file(sample_at(small_plan(), 4));
  const auto training = TrainingMaker::made(small_plan(file));
  EXPECT_THAT([&] { training->together(2, 3); }, error("has label 77"));
  EXPECT_THAT(training->train_alone(3), SizeIs(3));
}

TEST(TrainingThreadsBesideSteps, PassOnWhatTheStepsThrow) {
  const ImageFile file(sample_at(small_plan(), 0));
  const auto training = TrainingMaker::made(small_plan(file));
  EXPECT_THAT([&] { training->together(3, 3); }, error("has label 77"));
}

TEST(TrainingThreadsBesideSteps, MakeABatchEachAtLeast) {
  const auto training = TrainingMaker::made(small_plan());
  const Training::Together both = training->together(3, 2);
  EXPECT_GE(both.load.size(), 3U);
  EXPECT_THAT(both.steps, SizeIs(2));
  EXPECT_THAT(training->together(0, 2).load, SizeIs(0));
}

TEST(TrainingThreadsThatCannotBeStarted, AreAnError) {
  TrainingPlan plan = small_plan();
  plan.workers = 2;
  const auto training = TrainingMaker::made(plan);
  {
    const NoMoreThreads here;
    EXPECT_THAT([&] { trained(*training, 16); }, error("workers: cannot be started"));
    EXPECT_THAT([&] { training->together(2, 1); }, error("workers: cannot be started"));
  }
  EXPECT_THAT(trained(*training, 16), SizeIs(16));
}

void expect_refused(const ImageFile& file, const std::string& why) {
  const TrainingPlan plan = small_plan(file);
  EXPECT_THAT([&] { TrainingMaker::made(plan); },
              ThrowsMessage<Error>(AllOf(HasSubstr(file.path().string()), HasSubstr(why))));
}

TEST(TrainingRecords, AreRefusedBeforeAnyIsTrained) {
  const ImageFile magic, version, checksum, empty, missing, small;
  magic.overwrite(0, "ARROW1");
  expect_refused(magic, "does not start with ASSAYREC");
  version.overwrite(8, "\x02");
  expect_refused(version, "is of version 2");
  checksum.overwrite(4096 + 12 * ImageFile::bytes + 9, "x");
  expect_refused(checksum, "checksum differs");
  fs::resize_file(empty.path(), 0);
  expect_refused(empty, "is empty");
  fs::remove(missing.path());
  expect_refused(missing, "cannot open");
  write_record_file(small.path(), {.records = 3, .bytes = ImageFile::bytes},
                    [](Index, std::span<std::byte>) {});
  expect_refused(small, "holds 3 records, and 61 samples and 0 of validation are asked for");
}

TEST(TrainingRecords, HoldThoseOfValidationToo) {
  const ImageFile file;
  TrainingPlan plan = small_plan(file);
  plan.validation_samples = 10;
  EXPECT_NO_THROW(TrainingMaker::made(plan));
  plan.validation_samples = 11;
  EXPECT_THAT([&] { TrainingMaker::made(plan); },
              error("holds 71 records, and 61 samples and 11 of validation"));
}

TEST(TrainingRecords, AreInMemoryUnlessTheirPagesWereDropped) {
  const ImageFile file;
  const auto training = TrainingMaker::made(small_plan(file));
  trained(*training, 16);
  EXPECT_GT(training->resident(), 0.5);
  training->drop_pages();  // does nothing where temporary files lie in memory
  EXPECT_NO_THROW(trained(*training, 16));
  EXPECT_LE(training->resident(), 1);
}

// A sleep is never shorter than it was asked for.
TEST(TrainingBatches, TakeAsLongAsTheirDelayAtLeast) {
  TrainingPlan plan = small_plan();
  plan.batch_delay = 0.002;
  const auto training = TrainingMaker::made(plan);
  for (const StepTimes& step : trained(*training, 3)) EXPECT_GE(step.load, 0.002);
  for (const double seconds : training->load_alone(2)) EXPECT_GE(seconds, 0.002);
}

void expect_unusable(const std::function<void(TrainingPlan&)>& spoil, const std::string& why) {
  TrainingPlan plan = small_plan();
  spoil(plan);
  EXPECT_THAT([&] { TrainingMaker::made(plan); }, error(why));
}

TEST(TrainingPlans, NameTheNumberThatCannotBe) {
  expect_unusable([](TrainingPlan& p) { p.batch = 0; }, "batch: is 0");
  expect_unusable([](TrainingPlan& p) { p.samples = 3; }, "samples: is 3, fewer than a batch of 4");
  expect_unusable([](TrainingPlan& p) { p.workers = -1; }, "workers: is -1");
  expect_unusable([](TrainingPlan& p) { p.prefetch = 0; }, "prefetch: is 0");
  expect_unusable([](TrainingPlan& p) { p.validation_samples = -1; }, "validation_samples: is -1");
  expect_unusable([](TrainingPlan& p) { p.checkpoint_every = -5; }, "checkpoint_every: is -5");
  expect_unusable([](TrainingPlan& p) { p.batch_delay = -1; }, "batch_delay: is -1");
  const auto training = TrainingMaker::made(small_plan());
  EXPECT_THAT([&] { training->load_with(2, 0, true); }, error("prefetch: is 0"));
  EXPECT_NO_THROW(trained(*training, 1));
}

}  // namespace
}  // namespace assay::train_step
