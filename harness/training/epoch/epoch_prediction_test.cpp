// Tests an epoch from its prediction to its line in a log, over a training that a script plays.
#include "training/epoch/epoch_prediction.hpp"

#include "training/epoch/scripted_training_test.hpp"

#include "assay/random.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace assay {
namespace {

using testing::at_once, testing::job_by_hand, testing::Scripted;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The script has 100 steps of 3 ms, nine batches of validation of 20 ms and one of 10 ms, three checkpoints
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

/// Whether the interval of earlier epochs held; nothing without one.
std::optional<bool> held(const Forecast& f) {
  return f.experience.seconds.coverage > 0 ? f.known.value().inside() : std::nullopt;
}

TEST(EpochPredictions, SayWhetherTheIntervalOfEarlierEpochsHeld) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  const EpochPrediction prediction = predicted(training, job, longer_by_a_tenth());
  EXPECT_EQ(prediction.forecast.experience.epochs, 9U);
  EXPECT_FALSE(prediction.forecast.known) << "not run yet";
  EpochRun epoch = run_epoch(training, prediction, {});
  epoch.times.seconds = 1.09 * epoch_seconds;
  EXPECT_EQ(held(scored(prediction, epoch)), true);
  epoch.times.seconds = 1.2 * epoch_seconds;
  EXPECT_EQ(held(scored(prediction, epoch)), false);

  const EpochPrediction first = predicted(training, job);
  EXPECT_FALSE(held(scored(first, epoch))) << "there was no such interval";
}

TEST(EpochPredictions, AreMissedOutsideTheirIntervalAlone) {
  const Weather busy{.seconds = 1, .other_busy_share = 0.8};
  const Interval predicted{9, 10, 11, predicted_coverage};
  EXPECT_FALSE((KnownEpoch{9, predicted, busy}.missed()));
  EXPECT_FALSE((KnownEpoch{11, predicted, busy}.missed()));
  EXPECT_TRUE((KnownEpoch{8.99, predicted, busy}.missed()));
  EXPECT_TRUE((KnownEpoch{11.01, predicted, busy}.missed()));
  EXPECT_EQ((KnownEpoch{12, predicted, busy}.weather.other_busy_share), 0.8);
  EXPECT_FALSE((KnownEpoch{12, {10, 10, 10, 0}, busy}.missed())) << "without an interval there is no miss";
}

TEST(EpochPredictions, AreMissedByTheIntervalThatWasFrozen) {
  const TrainingJob job = job_by_hand();
  Scripted training(job.plan);
  const EpochPrediction prediction = predicted(training, job, longer_by_a_tenth());
  EpochRun epoch = run_epoch(training, prediction, {});
  epoch.times.seconds = 1.09 * epoch_seconds;
  EXPECT_EQ(scored(prediction, epoch).known.value().inside(), true);
  epoch.times.seconds = 1.2 * epoch_seconds;
  EXPECT_TRUE(scored(prediction, epoch).known.value().missed());
  EXPECT_FALSE(prediction.forecast.known) << "not run yet";
}

TEST(RenewedForecasts, BeginAsPredicted) {
  RenewedForecast renewed(1000, 5, Interval{100, 105, 110, 0.9});
  renewed.note(100, 20);
  EXPECT_NEAR(renewed.seconds().middle, 20 + 90 + 5, 1e-9) << "900 of 1000 steps of 100 s, and validation";
  EXPECT_EQ(renewed.seconds().coverage, 0);
}

TEST(RenewedForecasts, FollowTheStepsOfTheEpochAndNotThePrediction) {
  RenewedForecast renewed(1000, 5, Interval{100, 105, 110, 0.9});
  for (Index done = 10; done <= 500; done += 10) renewed.note(done, 0.2 * static_cast<double>(done));
  EXPECT_NEAR(renewed.seconds().middle, 205, 1e-6) << "twice what was predicted";
  EXPECT_GT(renewed.seconds().coverage, 0);
}

// Groups of 10 steps with errors of 10 %: as many epochs end inside as the interval says, or nearly so.
TEST(RenewedForecasts, HoldAtHalfOfTheEpoch) {
  Rng rng(11);
  int inside = 0;
  constexpr int epochs = 400;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    RenewedForecast renewed(2000, 0, std::nullopt);
    double seconds = 0;
    Interval halfway;
    for (Index done = 10; done <= 2000; done += 10) {
      seconds += 0.1 * (1 + 0.1 * std::sqrt(12) * (rng.uniform(0, 1) - 0.5));
      renewed.note(done, seconds);
      if (done == 1000) halfway = renewed.seconds();
    }
    if (halfway.low <= seconds && seconds <= halfway.high) ++inside;
  }
  EXPECT_GE(inside, 0.85 * epochs);
  EXPECT_LE(inside, 0.97 * epochs);
}

TEST(RenewedForecasts, AreExactAtTheEnd) {
  RenewedForecast renewed(100, 0, std::nullopt);
  for (Index done = 1; done <= 100; ++done) renewed.note(done, 0.1 * static_cast<double>(done * done));
  EXPECT_NEAR(renewed.seconds().low, 1000, 1e-9);
  EXPECT_NEAR(renewed.seconds().high, 1000, 1e-9);
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
