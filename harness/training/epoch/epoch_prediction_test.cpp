// Tests an epoch from its prediction to its line in a log, over a training that a script plays.
#include "training/epoch/epoch_prediction.hpp"

#include "training/epoch/scripted_training.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using testing::at_once, testing::job_by_hand, testing::Scripted;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Of the script: 100 steps of 3 ms, nine batches of validation of 20 ms and one of 10 ms, three checkpoints
// of 300 ms.
constexpr double validation_seconds = 0.19, checkpoint_seconds = 0.9,
                 epoch_seconds = 0.3 + validation_seconds + checkpoint_seconds;

const PredictionSettings settings{.calibration = at_once};

EpochPrediction predicted(Training& training, const TrainingJob& job,
                          const std::vector<LoggedEpoch>& earlier = {}) {
  return predict_epoch(training, job, earlier, settings, {}).value();
}

/// Nine epochs of this machine that took 10 % longer than the intervals of M4 had it.
std::vector<LoggedEpoch> longer_by_a_tenth() {
  const LoggedEpoch one{
      .machine = this_machine().key, .seconds = 1.1, .models = {{"M4", {0.99, 1, 1, predicted_coverage}}}};
  return std::vector<LoggedEpoch>(9, one);
}

TEST(EpochPredictions, AreMadeOfACalibrationBeforeTheEpoch) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  const EpochPrediction prediction = predicted(training, job);
  EXPECT_EQ(prediction.job.name, job.name);
  ASSERT_NE(most_elaborate(prediction.forecast.models), nullptr);
  EXPECT_NEAR(most_elaborate(prediction.forecast.models)->seconds.middle, epoch_seconds, 1e-9);
  EXPECT_EQ(prediction.forecast.experience.epochs, 0U);
  EXPECT_THAT(prediction.forecast.scores, IsEmpty());
  EXPECT_THAT(prediction.elsewhere, IsEmpty()) << "nobody asked";
}

TEST(EpochPredictions, TellSettingsThatAreNotRunWhereAskedFor) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  PredictionSettings more = settings;
  more.elsewhere = PartsPolicy{.rounds = 3, .part_seconds = 0.01, .seconds = 0};
  const auto prediction = predict_epoch(training, job, {}, more, {});
  ASSERT_TRUE(prediction);
  ASSERT_THAT(prediction->elsewhere, SizeIs(usual_settings().size()));
  EXPECT_EQ(prediction->elsewhere[0].setting.workers, 0);
  EXPECT_NEAR(prediction->elsewhere[0].seconds, epoch_seconds, 1e-9) << "as the job is";
}

TEST(EpochPredictions, AreNoneAfterAnInterrupt) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  EXPECT_FALSE(predict_epoch(training, job, {}, settings, {.stop = [] { return true; }}));
}

TEST(EpochPredictions, AreScoredAgainstTheEpochAndItsSteps) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  const EpochPrediction prediction = predicted(training, job);
  EpochRun epoch = run_epoch(training, prediction, {});
  EXPECT_FALSE(epoch.partial);
  ASSERT_THAT(epoch.times.steps, SizeIs(100));
  const auto right = scored(prediction, epoch).scores;
  ASSERT_THAT(right, SizeIs(2));
  EXPECT_NEAR(right[0].models.back().error, 0, 1e-9);
  EXPECT_NEAR(right[1].models.back().predicted, 0.3, 1e-9);
  EXPECT_NEAR(right[1].models.back().error, 0, 1e-9);
  epoch.times.seconds *= 2;
  EXPECT_NEAR(scored(prediction, epoch).scores[0].models.back().error, -0.5, 1e-9);
}

TEST(EpochPredictions, SayWhetherTheIntervalOfEarlierEpochsHeld) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  const EpochPrediction prediction = predicted(training, job, longer_by_a_tenth());
  EXPECT_EQ(prediction.forecast.experience.epochs, 9U);
  EXPECT_FALSE(prediction.forecast.experience.held) << "not run yet";
  EpochRun epoch = run_epoch(training, prediction, {});
  epoch.times.seconds = 1.09 * epoch_seconds;
  EXPECT_EQ(scored(prediction, epoch).experience.held, true);
  epoch.times.seconds = 1.2 * epoch_seconds;
  EXPECT_EQ(scored(prediction, epoch).experience.held, false);

  const EpochPrediction first = predicted(training, job);
  EXPECT_FALSE(scored(first, epoch).experience.held) << "there was no such interval";
}

TEST(EpochPredictions, BecomeALineOfALog) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  const EpochPrediction prediction = predicted(training, job, longer_by_a_tenth());
  const EpochRun epoch = run_epoch(training, prediction, {});
  const LoggedEpoch line = logged_epoch(prediction, epoch, scored(prediction, epoch), "hash");
  EXPECT_EQ(line.date, prediction.made);
  EXPECT_EQ(line.frozen, "hash");
  EXPECT_EQ(line.machine, this_machine().key);
  EXPECT_NEAR(line.seconds, epoch_seconds, 1e-9);
  EXPECT_NEAR(line.predicted_step, 0.002, 1e-9) << "without loading";
  EXPECT_NEAR(line.measured_step, 0.002, 1e-9);
  EXPECT_EQ(line.experience.epochs, 9U);
  EXPECT_EQ(line.models.back().model, "M4");
  EXPECT_NEAR(line.models.back().seconds.middle, epoch_seconds, 1e-9);
  EXPECT_THAT(line.segments, ElementsAre(Field(&LoggedSegment::name, "validation"),
                                         Field(&LoggedSegment::name, "checkpoint")));
  EXPECT_NEAR(line.segments[0].seconds, validation_seconds, 1e-9);
  EXPECT_NEAR(line.segments[1].seconds, checkpoint_seconds, 1e-9);
}

TEST(EpochPredictions, LogNoTimeOfPagesThatIsPartOfTheSteps) {
  TrainingJob job = job_by_hand();
  job.plan.checkpoint_every = 0;
  job.plan.cold = true;
  Scripted training(job.plan);
  const EpochPrediction prediction = predicted(training, job);
  ASSERT_THAT(prediction.forecast.segments, Contains(Field(&Segment::kind, SegmentKind::cold_pages)));
  const EpochRun epoch = run_epoch(training, prediction, {});
  const LoggedEpoch line = logged_epoch(prediction, epoch, scored(prediction, epoch), "");
  EXPECT_THAT(line.segments, ElementsAre(Field(&LoggedSegment::name, "validation")));
}

}  // namespace
}  // namespace assay
