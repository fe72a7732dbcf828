// Tests the measurement of a training that a script plays.
#include "training/epoch/own_jobs.hpp"

#include "training/epoch/forecast.hpp"
#include "training/epoch/scripted_training_test.hpp"
#include "training/epoch/spread.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>

namespace assay {
namespace {

using testing::at_once, testing::job_by_hand, testing::Scripted;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const StepPhase* phase_named(const Job& job, const std::string& name) {
  for (const StepPhase& phase : job.phases) {
    if (phase.name == name) return &phase;
  }
  return nullptr;
}

TEST(CalibrationRuns, TimeValidationAndCheckpointsWithoutTheFirst) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  const Job measured = calibration_of(training, job, at_once, {});
  EXPECT_THAT(training.asked_batches, ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(training.asked_checkpoints, ElementsAre(2, 2, 2, 2));
  const StepPhase* validation = phase_named(measured, "validation");
  ASSERT_NE(validation, nullptr);
  EXPECT_EQ(validation->scope, Scope::validation);
  EXPECT_THAT(validation->seconds, SizeIs(12));
  EXPECT_THAT(validation->seconds, Each(DoubleNear(0.02, 1e-12)));
  const StepPhase* checkpoint = phase_named(measured, "checkpoint");
  ASSERT_NE(checkpoint, nullptr);
  EXPECT_EQ(checkpoint->scope, Scope::checkpoint);
  EXPECT_THAT(checkpoint->seconds, ElementsAre(0.3, 0.3, 0.3, 0.3));
  EXPECT_EQ(measured.dataset.validation, 95);
  EXPECT_EQ(measured.dataset.checkpoint_every, 30);
}

TEST(CalibrationRuns, TimeNothingBesideTheStepsOfAJobThatHasNothingElse) {
  TrainingJob job = job_by_hand();
  job.plan.validation_samples = job.plan.checkpoint_every = 0;
  Scripted training(job.plan);
  const Job measured = calibration_of(training, job, at_once, {});
  EXPECT_THAT(training.asked_batches, IsEmpty());
  EXPECT_THAT(training.asked_checkpoints, IsEmpty());
  EXPECT_EQ(phase_named(measured, "validation"), nullptr);
  EXPECT_EQ(phase_named(measured, "checkpoint"), nullptr);
}

// A single batch of 4 of 10 samples takes 100 ms: a full one would take 250 ms, and the epoch has 0.4 of it.
TEST(CalibrationRuns, TakeASmallBatchForItsShareOfAFullOne) {
  TrainingJob job = job_by_hand();
  job.plan.validation_samples = 4;
  Scripted training(job.plan);
  const Job measured = calibration_of(training, job, at_once, {});
  EXPECT_THAT(training.asked_batches, Each(1));
  EXPECT_THAT(phase_named(measured, "validation")->seconds, Each(DoubleNear(0.25, 1e-12)));
  const Forecast f = forecast(measured);
  EXPECT_NEAR(f.segments.at(0).seconds.middle, 0.1, 1e-12);
}

// 100 * 0.003 + 9.5 * 0.02 + 3 * 0.3 = 1.39 s, of which the window of the steps is 0.3 s.
TEST(EpochRuns, ArePredictedAndScoredWithAllTheirSegments) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  const Job measured = calibration_of(training, job, at_once, {});
  Index told = 0;
  const EpochRun run = run_epoch(training, job.plan, [&](Index done, double) { told = done; }, {});
  EXPECT_EQ(told, 100);
  EXPECT_FALSE(run.partial);
  const Job truth = measured_job(job, run);
  ASSERT_THAT(truth.windows, SizeIs(1));
  EXPECT_NEAR(truth.windows[0].wall_seconds, 0.3, 1e-9);
  EXPECT_THAT(phase_named(truth, "validation")->seconds, SizeIs(9)) << "the full ones";
  EXPECT_NEAR(*truth.epoch_seconds, 1.39, 1e-9);
  const Forecast f = forecast(measured, &truth);
  ASSERT_THAT(f.segments, SizeIs(2));
  EXPECT_NEAR(f.segments[0].seconds.middle, 0.19, 1e-9);
  EXPECT_NEAR(f.segments[1].seconds.middle, 0.9, 1e-9);
  for (const ModelPrediction& one : f.models)
    EXPECT_NEAR(one.seconds.middle, 1.39, 1e-9) << name_of(one.model);
  ASSERT_THAT(f.scores, SizeIs(2));
  for (const Score& score : f.scores) {
    for (const Scored& one : score.models) EXPECT_NEAR(one.error, 0, 1e-9) << score.measured;
  }
  EXPECT_EQ(f.scores[1].phases.back().name, "checkpoint, per write");
  EXPECT_NEAR(f.scores[1].phases.back().error, 0, 1e-9);
}

TEST(EpochRuns, ArePartialWhenValidationWasStopped) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  int asked = 0;
  const EpochRun run =
      run_epoch(training, job.plan, [](Index, double) {}, {.stop = [&] { return ++asked == 103; }});
  EXPECT_THAT(run.times.steps, SizeIs(100));
  EXPECT_THAT(run.times.validation, SizeIs(3));
  EXPECT_TRUE(run.partial);
}

// Sixty steps in twelve runs of one, two and three parts: of 2.5, 5 and 7.5 steps, rounded down.
TEST(CalibrationRuns, TrainBatchesOfTheirOwnInRunsOfThreeLengths) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  const Job measured = calibration_of(training, job, at_once, {});
  ASSERT_THAT(training.asked, SizeIs(12));
  constexpr std::array<Index, 3> lengths{2, 5, 7};
  Index next = 0;
  for (std::size_t i = 0; i < training.asked.size(); ++i) {
    EXPECT_EQ(training.asked[i].steps, lengths[i % 3]);
    EXPECT_EQ(training.asked[i].first, next);
    next += training.asked[i].steps;
  }
  EXPECT_TRUE(are_runs(measured.windows));
  const Calibration c = calibrate(measured);
  EXPECT_EQ(c.steady.size(), 12U);
  EXPECT_NEAR(c.period.mean, 0.003, 1e-12);
  EXPECT_TRUE(c.flags.empty());
}

TEST(CalibrationRuns, BeginAnewWhereTheBatchesEnd) {
  TrainingJob job = job_by_hand();
  job.plan.samples = 125;  // twelve full batches and a smaller one
  Scripted training(job.plan);
  calibration_of(training, job, at_once, {});
  for (const StepRange& range : training.asked) EXPECT_LE(range.first + range.steps, 12);
}

// A cold epoch of 100 steps takes 0.3 s and 8 ms (1 + 1/2 + 1/4 + ...) = 16 ms more.
TEST(CalibrationRuns, OfAJobThatStartsColdSayWhatItsPagesCost) {
  TrainingJob job = job_by_hand();
  job.plan.validation_samples = job.plan.checkpoint_every = 0;
  job.plan.cold = true;
  Scripted training(job.plan);
  const Job measured = calibration_of(training, job, at_once, {});
  EXPECT_TRUE(training.cold) << "as the plan says, for the epoch";
  EXPECT_THAT(training.asked, SizeIs(16)) << "twelve warm and four cold ones";
  const Calibration c = calibrate(measured);
  ASSERT_TRUE(c.cold);
  EXPECT_NEAR(c.cold->rate, std::log(2), 1e-9);
  EXPECT_NEAR(c.cold->extra.middle, 0.008, 1e-9);
  EXPECT_NEAR(c.cold->extra.low, 0.008, 1e-9);
  EXPECT_EQ(c.cache, PageCache::warm);
  EXPECT_FALSE(c.flagged(Doubt::cache));
  const Forecast f = forecast(measured);
  ASSERT_THAT(f.segments, SizeIs(1));
  EXPECT_EQ(f.segments[0].kind, SegmentKind::cold_pages);
  EXPECT_NEAR(f.segments[0].count, 2, 1e-4);
  EXPECT_NEAR(f.segments[0].seconds.middle, 0.016, 1e-6);
  for (const ModelPrediction& one : f.models)
    EXPECT_NEAR(one.seconds.middle, 0.316, 1e-6) << name_of(one.model);
}

Calibration calibration_by_hand(Scripted& training, const TrainingJob& job) {
  return calibrate(calibration_of(training, job, at_once, {}));
}

constexpr PartsPolicy three_rounds{.rounds = 3, .part_seconds = 0.01, .seconds = 0};

// Other settings of the loader have the same validation and checkpoints: 100 * 0.003 + 1.09 s.
TEST(EpochsElsewhere, HaveTheSameBesideTheirSteps) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  const auto all =
      elsewhere(training, job.plan, calibration_by_hand(training, job), {{0, 1}}, 1.09, three_rounds, {});
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_NEAR(all[0].seconds, 1.39, 1e-9);
}

// One worker makes batches of 1.5 ms for steps of 2 ms, so it works three quarters of the time, and steps
// take 2 ms (1 + 3/4) = 3.5 ms; the first batch is waited for. Two workers work three eighths of it: 2.75 ms.
TEST(EpochsElsewhere, AreSlowedDownByTheShareOfTheTimeThatWorkersWork) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  const auto all = elsewhere(training, job.plan, calibration_by_hand(training, job), {{1, 2}, {2, 2}}, 0,
                             three_rounds, {});
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_NEAR(all[0].seconds, 100 * 0.0035 + 0.0015, 1e-9);
  EXPECT_NEAR(all[1].seconds, 100 * 0.00275 + 0.0015, 1e-9);
}

// A loop that wakes its only worker for each batch pays that where it would wake it again, and nowhere else.
TEST(EpochsElsewhere, PayForWakingAWorkerOnlyWhereOneBatchIsAhead) {
  TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  Calibration c = calibration_by_hand(training, job);
  job.plan.workers = c.queue.workers = 1;
  job.plan.prefetch = c.queue.prefetch = 1;
  c.contention_assumed = false;
  const std::vector<LoaderSetting> settings{{1, 1}, {1, 2}, {2, 1}, {0, 1}};
  c.waited = 0;
  const auto before = elsewhere(training, job.plan, c, settings, 0, three_rounds, {});
  c.waited = 0.01;
  const auto after = elsewhere(training, job.plan, c, settings, 0, three_rounds, {});
  ASSERT_GT(hand_over(c), 0.001);
  EXPECT_NEAR(after[0].seconds - before[0].seconds, 100 * hand_over(c), 1e-9);
  for (std::size_t i = 1; i < settings.size(); ++i) EXPECT_EQ(after[i].seconds, before[i].seconds);
}

TEST(EpochsElsewhere, AreNotToldAfterAnInterrupt) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  const Calibration c = calibration_by_hand(training, job);
  EXPECT_THAT(elsewhere(training, job.plan, c, {{1, 2}}, 0, three_rounds, {.stop = [] { return true; }}),
              IsEmpty());
}

}  // namespace
}  // namespace assay
