#include "training/epoch/models.hpp"

#include "assay/random.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

namespace assay {
namespace {

using ::testing::HasSubstr;

/// Means alone, in seconds: loading by a worker, the rest of a step.
Calibration parts_of(Index workers, Index prefetch, double load, double rest) {
  Calibration out;
  out.queue = {.workers = workers, .prefetch = prefetch};
  out.load = {load};
  out.rest = {rest};
  return out;
}

const ModelPrediction& of(const std::vector<ModelPrediction>& all, Model model) {
  return all.at(static_cast<std::size_t>(model));
}

TEST(Models, NeedNothingMoreThanOneNameEach) {
  const auto all = predict_with_all(parts_of(2, 2, 3, 2), {.steps = 10});
  ASSERT_EQ(all.size(), all_models.size());
  for (const Model model : all_models) EXPECT_EQ(of(all, model).model, model);
}

// A thousand billion steps take that many periods, and not as long to predict.
TEST(Models, PlayNoMoreStepsThanTellThePeriod) {
  const auto all = predict_with_all(parts_of(2, 2, 3, 2), {.steps = 1e12});
  EXPECT_NEAR(of(all, Model::queue).seconds.middle / 2e12, 1, 1e-6);
}

TEST(Models, TakeTheLargestResource) {
  EXPECT_EQ(largest_resource({.workers = 2}, 3, 2), 2);
  EXPECT_EQ(largest_resource({.workers = 2}, 6, 2), 3);
  EXPECT_EQ(largest_resource({.workers = 0}, 6, 2), 8);
  EXPECT_EQ(largest_resource({.workers = 2, .load_contention = 2, .compute_contention = 3}, 5, 1), 5);
}

// One worker, one place, both 1 s: the queue is empty in half of all cases, 1 + 1 / 2. Two workers of 2 s
// each and steps of 2 s: r = 2, K = 2, p = (1 - 2) / (1 - 8) = 1 / 7 of a batch every second.
TEST(Models, FollowTheFormulaOfTfData) {
  EXPECT_NEAR(queue_formula({.workers = 1, .prefetch = 1}, 1, 1), 1.5, 1e-12);
  EXPECT_NEAR(queue_formula({.workers = 2, .prefetch = 1}, 2, 2), 2 + 1.0 / 7, 1e-12);
  EXPECT_EQ(queue_formula({.workers = 2, .prefetch = 1}, 0, 2), 2);
  EXPECT_EQ(queue_formula({.workers = 0}, 2, 2), 4);
}

// Constant times: the first fill of 3 s, then a step every 2 s, or a batch every 3 s.
TEST(Models, AgreeOnTheQueueWhereTimesAreConstant) {
  for (const auto& [load, period] : {std::pair{3.0, 2.0}, std::pair{6.0, 3.0}}) {
    const auto all = predict_with_all(parts_of(2, 2, load, 2), {.steps = 100000});
    EXPECT_NEAR(of(all, Model::largest).seconds.middle, load + 100000 * period, 1e-6);
    EXPECT_NEAR(of(all, Model::queue).period, period, 1e-4);
    EXPECT_NEAR(of(all, Model::queue).one_off, load, 1e-9);
  }
}

TEST(Models, AddLoadingWithoutWorkers) {
  const auto all = predict_with_all(parts_of(0, 2, 3, 2), {.steps = 10});
  for (const Model model : {Model::largest, Model::queue_formula, Model::queue}) {
    EXPECT_NEAR(of(all, model).seconds.middle, 50, 1e-9) << name_of(model);
    EXPECT_EQ(of(all, model).one_off, 0) << name_of(model);
  }
}

// By means a batch every 1.5 s is enough for steps of 1.6 s.
TEST(Models, DifferWhereTimesVary) {
  Calibration c = parts_of(2, 2, 0, 1.6);
  c.load = {1, 1, 1, 9};
  const auto all = predict_with_all(c, {.steps = 10000});
  EXPECT_NEAR(of(all, Model::largest).period, 1.6, 1e-12);
  EXPECT_GT(of(all, Model::queue).period, 1.1 * 1.6);
  EXPECT_LT(of(all, Model::queue).seconds.low, of(all, Model::queue).seconds.middle);
  EXPECT_GT(of(all, Model::queue).seconds.high, of(all, Model::queue).seconds.middle);
}

// 10 steps of 5 s, 0.4 of one, three validation steps of 0.5 s, four checkpoints of 0.25 s, 7 s once.
TEST(Models, AddPartialBatchValidationCheckpointsAndStartUp) {
  Calibration c = parts_of(0, 2, 3, 2);
  c.validation = {.mean = 0.5, .steps = 1};
  c.checkpoint = {.mean = 0.25, .steps = 1};
  c.one_off = 7;
  const Target target{.steps = 10, .partial = 0.4, .validation_steps = 3, .checkpoints = 4};
  const auto all = predict_with_all(c, target);
  const ModelPrediction& queue = of(all, Model::queue);
  EXPECT_NEAR(queue.partial, 2, 1e-9);
  const auto segments = segments_of(c, target);
  ASSERT_EQ(segments.size(), 2U);
  EXPECT_NEAR(segments[0].seconds.middle, 1.5, 1e-9);
  EXPECT_NEAR(segments[1].seconds.middle, 1, 1e-9);
  EXPECT_NEAR(queue.seconds.middle, 7 + 50 + 2 + 1.5 + 1, 1e-9);
}

// Times of 11, 12 and 13 s have mean 12 and variance 1, so that six more take 72 s give or take 2.919986
// sqrt(18), as in spread_test.cpp. Six steps and six batches of validation err independently: 144 s, 2.919986
// sqrt(18 + 18).
TEST(Models, AddWhatStepsAndSegmentsMayBeOffByBySquares) {
  Calibration c;
  c.no_load = "no load phase";
  c.all = {{1, 11}, {1, 12}, {1, 13}};
  c.validation = spread_of(c.all);
  const Target target{.steps = 6, .validation_steps = 6};
  const auto all = predict_with_all(c, target);
  const Interval& seconds = of(all, Model::mean).seconds;
  EXPECT_NEAR(seconds.middle, 144, 1e-9);
  EXPECT_NEAR(seconds.high - 144, 2.919986 * 6, 1e-4);
  EXPECT_GT(seconds.low, 144 - 2.919986 * 6) << "as many times shorter, and not as much";
  EXPECT_EQ(seconds.coverage, predicted_coverage);
  const auto segments = segments_of(c, target);
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].count, 6);
  EXPECT_NEAR(segments[0].seconds.high - 72, 2.919986 * std::sqrt(18), 1e-4);
  EXPECT_NEAR(seconds_of(segments), 72, 1e-9);
}

// 1 and 9 s: mean 5, variance 32 with one degree of freedom, whose quantile of 6.3 makes 10 +- 71 s of two
// more.
TEST(Models, KnowNoSegmentOfLessThanNoTime) {
  Calibration c;
  c.checkpoint = spread_of(std::vector<Group>{{1, 1}, {1, 9}});
  const auto segments = segments_of(c, {.checkpoints = 2});
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_GT(segments[0].seconds.low, 0);
  EXPECT_LT(segments[0].seconds.low, 2);
  EXPECT_NEAR(segments[0].seconds.middle, 10, 1e-9);
}

// One worker makes batches of 1 ms in time for steps of 2 ms, which wait 0.5 ms all the same.
TEST(Models, AddWhatAStepWaitsForNoBatchToM4Alone) {
  Calibration c;
  c.all = {{10, 0.0025}};
  c.queue = {.workers = 1, .prefetch = 1};
  c.load = {0.001};
  c.rest = {0.002};
  c.waited = 0.0005;
  EXPECT_NEAR(hand_over(c), 0.0005, 1e-12);
  const auto all = predict_with_all(c, {.steps = 100});
  EXPECT_NEAR(of(all, Model::queue).period, 0.0025, 1e-12);
  EXPECT_NEAR(of(all, Model::largest).period, 0.002, 1e-12);
  c.contention_assumed = true;
  EXPECT_EQ(hand_over(c), 0) << "the factor that is fitted contains it";
  c.contention_assumed = false;
  c.queue.workers = 0;
  EXPECT_EQ(hand_over(c), 0) << "nobody hands anything over";
}

// As above, 72 s give or take 2.919986 sqrt(18), seen in 216 s: an epoch of a third of that errs twice as
// much.
TEST(Models, WidenIntervalsOfRunsByHowShortTheEpochIs) {
  Calibration c;
  c.no_load = "no load phase";
  c.all = {{1, 11}, {1, 12}, {1, 13}};
  c.span = 216;
  const Interval seconds = of(predict_with_all(c, {.steps = 6}), Model::mean).seconds;
  EXPECT_NEAR(seconds.middle, 72, 1e-9);
  EXPECT_NEAR(seconds.high - 72, 2 * 2.919986 * std::sqrt(18), 1e-4);
  c.persistence = 0.6;  // a quarter of the runs is independent, which makes intervals twice as wide
  const Interval wider = of(predict_with_all(c, {.steps = 6}), Model::mean).seconds;
  EXPECT_NEAR(wider.high - 72, 4 * 2.919986 * std::sqrt(18), 1e-4);
}

// Steps of a run are equal, and runs take 1.0 or 1.3 ms a step by turns: the mean of twelve of them is known
// to 0.15 / sqrt(12) = 4.3 %, which steps one by one would not tell.
TEST(Models, ResampleWholeRuns) {
  Calibration c;
  c.all = {{1, 0.00125}};
  c.load = {0.0001};
  for (int run = 0; run < 12; ++run) {
    c.runs.push_back(30);
    c.rest.insert(c.rest.end(), 30, run % 2 == 0 ? 0.001 : 0.0013);
  }
  const Interval seconds = of(predict_with_all(c, {.steps = 1000}), Model::queue).seconds;
  EXPECT_EQ(seconds.coverage, predicted_coverage);
  const double half = (seconds.high - seconds.low) / 2 / seconds.middle;
  EXPECT_GT(half, 1.645 * 0.03);
  EXPECT_LT(half, 1.645 * 0.06);
}

TEST(Models, HaveNoIntervalWhereOnlyTheSegmentsHaveOne) {
  Calibration c;
  c.no_load = "no load phase";
  c.all = {{10, 1.0}};
  c.checkpoint = spread_of(std::vector<Group>{{1, 1}, {1, 2}, {1, 3}});
  const auto all = predict_with_all(c, {.steps = 6, .checkpoints = 2});
  const Interval& seconds = of(all, Model::mean).seconds;
  EXPECT_NEAR(seconds.middle, 10, 1e-9);
  EXPECT_EQ(seconds.low, seconds.middle);
  EXPECT_EQ(seconds.high, seconds.middle);
  EXPECT_EQ(seconds.coverage, 0);
}

// A of 7 s contains the first fill of 3 s, which the queue has by itself.
TEST(Models, DoNotCountTheFirstFillTwice) {
  Calibration c = parts_of(2, 2, 3, 2);
  c.one_off = 7;
  const auto all = predict_with_all(c, {.steps = 1000});
  EXPECT_NEAR(of(all, Model::largest).seconds.middle, 7 + 2000, 1e-9);
  EXPECT_NEAR(of(all, Model::queue).seconds.middle, 7 + 2000, 1e-6);
}

TEST(Models, LeaveStartUpOutOfAWindowLaterInTheEpoch) {
  Calibration c = parts_of(2, 2, 3, 2);
  c.one_off = 7;
  const auto all = predict_with_all(c, {.steps = 1000, .from_start = false});
  EXPECT_NEAR(of(all, Model::largest).seconds.middle, 2000, 1e-9);
}

TEST(Models, SpreadStartUpOverTheStepsOnlyInTheMean) {
  Calibration c;
  c.all = {{100, 0.13}};
  c.line = fit_line({{100, 13}, {200, 23}});
  const auto all = predict_with_all(c, {.steps = 1000});
  EXPECT_NEAR(of(all, Model::mean).seconds.middle, 130, 1e-9);
  EXPECT_NEAR(of(all, Model::line).seconds.middle, 103, 1e-9);
  EXPECT_THAT(of(all, Model::line).no_interval, HasSubstr("two windows"));
}

TEST(Models, SayWhatTheyLack) {
  Calibration c;
  c.no_load = "no load phase";
  c.line.impossible = "no window was timed";
  const auto all = predict_with_all(c, {.steps = 1000});
  EXPECT_THAT(of(all, Model::mean).impossible, HasSubstr("no window"));
  EXPECT_THAT(of(all, Model::line).impossible, HasSubstr("no window"));
  EXPECT_EQ(of(all, Model::queue).impossible, "no load phase");
  EXPECT_EQ(most_elaborate(all), nullptr);
}

/// Steps of 1 s that hardly vary.
Calibration steady() {
  Calibration c;
  c.no_load = "no load phase";
  c.all = c.steady = {{10, 1.0}, {10, 1.0001}, {10, 0.9999}, {10, 1.0}};
  c.period = spread_of(c.steady);
  return c;
}

// 100 steps of 1 s whose pace may change by a factor of e^0.2. Of the same epoch 40 were seen: 60 may change.
TEST(Models, WidenTheirIntervalsByThePaceOfWhatWasNotSeen) {
  Calibration c = steady();
  c.pace = 0.2;
  Interval seconds = of(predict_with_all(c, {.steps = 100}), Model::mean).seconds;
  EXPECT_NEAR(seconds.low, 100 * std::exp(-0.2), 0.1);
  EXPECT_NEAR(seconds.high, 100 * std::exp(0.2), 0.1);
  c.seen = 40;
  seconds = of(predict_with_all(c, {.steps = 100}), Model::mean).seconds;
  EXPECT_NEAR(seconds.low, 40 + 60 * std::exp(-0.2), 0.1);
  EXPECT_NEAR(seconds.high, 40 + 60 * std::exp(0.2), 0.1);
  seconds = of(predict_with_all(c, {.steps = 100, .from_start = false}), Model::mean).seconds;
  EXPECT_NEAR(seconds.high, 100 * std::exp(0.2), 0.1) << "other steps";
}

// Steps of 1 and 5 ms, as in two lines of a table: Student's 6.3 makes an additive interval reach below 0.
TEST(Models, KnowNoTimeBelowZero) {
  Calibration c = steady();
  c.all = {{1, 0.001}, {1, 0.005}};
  const Interval seconds = of(predict_with_all(c, {.steps = 100}), Model::mean).seconds;
  EXPECT_GT(seconds.low, 0);
  EXPECT_NEAR(seconds.middle, 0.3, 1e-9);
  EXPECT_GT(seconds.high, 1);
}

// (k + (100 - k) e^0.4) / (k + (100 - k) e^-0.4) falls to 1.35 at k = 63, and with e^0.7 at k = 79.
TEST(Models, SayAfterHowManyStepsAnIntervalDecides) {
  Calibration c = steady();
  const Target target{.steps = 100};
  const auto enough = [&] {
    return static_cast<double>(enough_steps(c, target, of(predict_with_all(c, target), Model::mean).seconds));
  };
  c.pace = 0.4;
  EXPECT_NEAR(enough(), 66, 4);
  c.pace = 0.7;
  EXPECT_NEAR(enough(), 83, 5);
  c.seen = 40;
  c.pace = 0.01;
  EXPECT_GT(enough(), 40) << "more than were seen";
  EXPECT_EQ(enough_steps({}, target, {}), 0) << "one cannot tell";
}

// Nine steps tell a step within a factor of e^1.2 by their luck: 300 steps within e^0.208, and an epoch of
// 1,000 within (0.3 + 0.7 e^0.208) / (0.3 + 0.7 e^-0.208) = 1.34 between its ends.
TEST(Models, AdviseByTheWidthOfTheVerdict) {
  Calibration c = steady();
  c.all = {{9, 1}};
  const Index steps = enough_steps(c, {.steps = 1000}, {std::exp(-1.2), 1, std::exp(1.2), 0.9});
  EXPECT_NEAR(static_cast<double>(steps), 300, 15);
}

// Three steps of 1, 2 and 3 s with a load of 0.5 s on average: a mean has no spread, and steps have.
TEST(Models, TakeTheSpreadOfStepsWhereTheirPartsAreMeans) {
  Calibration c = parts_of(0, 2, 0.5, 1.5);
  c.all = c.steady = {{1, 1}, {1, 2}, {1, 3}};
  c.period = spread_of(c.steady);
  const ModelPrediction queue = of(predict_with_all(c, {.steps = 6}), Model::queue);
  EXPECT_NEAR(queue.seconds.middle, 12, 1e-9);
  EXPECT_NEAR(queue.seconds.high - 12, 2.919986 * std::sqrt(18), 1e-4) << "as sum_of_steps()";
  EXPECT_EQ(queue.no_interval, "");
}

// The parts say a step every 2 s, measured was one every 2.5 s: everything takes 1.25 times as long.
TEST(Models, FitContentionToWhatWasMeasuredTogether) {
  Calibration c = parts_of(2, 2, 3, 2);
  c.contention_assumed = true;
  c.steady = {{100, 2.5}};
  c.period = spread_of(c.steady);
  EXPECT_NEAR(fitted_queue(c).load_contention, 1.25, 1e-3);
  EXPECT_NEAR(of(predict_with_all(c, {.steps = 100000}), Model::queue).period, 2.5, 1e-3);
  c.steady = {{100, 1.5}};
  c.period = spread_of(c.steady);
  EXPECT_EQ(fitted_queue(c).load_contention, 1) << "nothing runs faster for being shared";
  c.contention_assumed = false;
  c.queue.load_contention = 1.1;
  EXPECT_EQ(fitted_queue(c).load_contention, 1.1) << "what was measured stays";
}

// Two workers of 40 ms would give a batch every 20 ms, in time for steps of 30 ms, and the loop waited 15 ms
// of 45: batches take 2.25 times as long beside the steps, which take what they take.
TEST(Models, FitTheMeasuredWaitByItself) {
  Calibration c = parts_of(2, 2, 0.04, 0.03);
  c.contention_assumed = true;
  c.steady = {{100, 0.045}};
  c.period = spread_of(c.steady);
  c.waited = 0.015;
  c.parts = {{.name = "load", .kind = PhaseKind::load, .mean_seconds = 0.015}};
  const LoaderQueue queue = fitted_queue(c);
  EXPECT_NEAR(queue.load_contention, 2.25, 0.05);
  EXPECT_NEAR(queue.compute_contention, 1, 1e-9);
}

/// Others that come and go on one processor, which they share evenly with the job while they are there; they
/// stay, and stay away, for 20 s on the average.
class Others {
 public:
  explicit Others(Rng& rng) : rng_(rng), there_(rng.uniform(0, 1) < 0.5), until_(drawn()) {}
  /// Goes on by `seconds`. Returns for how many of them they were there.
  double beside(double seconds) {
    double out = 0;
    for (; seconds > until_; until_ = drawn(), there_ = !there_) {
      out += there_ ? until_ : 0;
      seconds -= until_;
    }
    until_ -= seconds;
    return out + (there_ ? seconds : 0);
  }

 private:
  double drawn() { return -20 * std::log(1 - rng_.uniform(0, 1)); }
  Rng& rng_;
  bool there_;
  double until_;
};

/// How many epochs of a minute lie inside the interval of a calibration that saw others, and how many such
/// there are. Twelve runs are spread over six seconds; a step takes 10 ms alone.
struct Covered {
  int inside = 0, all = 0;
};
Covered epochs_beside_others(bool weather_known) {
  constexpr double alone = 0.01, apart = 0.5, epoch_steps = 6000;
  constexpr int runs = 12;
  Covered out;
  Rng rng(7);
  for (int epoch = 0; epoch < 1000; ++epoch) {
    Others others(rng);
    Job job;
    double beside = 0;
    for (int run = 0; run < runs; ++run) {
      const double share = others.beside(apart) / apart;
      beside += share * apart;
      // Half of the processor is left while they are there.
      const double step = alone / (1 - share / 2);
      job.windows.push_back({.steps = 8, .wall_seconds = 8 * step, .step_seconds = std::vector(8, step)});
      job.windows.back().run = run;
      job.windows.back().began = run * apart;
    }
    job.weather = {.seconds = runs * apart, .other_busy_share = beside / (runs * apart) / 2};
    if (beside == 0) continue;
    if (!weather_known) job.weather = {};
    double left = epoch_steps * alone, took = 0;
    for (constexpr double tick = 0.1; left > 0; took += tick) left -= tick - others.beside(tick) / 2;
    const Interval seconds = predict_with_all(calibrate(job), {.steps = epoch_steps})[0].seconds;
    ++out.all;
    if (seconds.low <= took && took <= seconds.high) ++out.inside;
  }
  return out;
}

// Six seconds beside others say how much slower they make a step, and not for how long they stay.
TEST(Models, CoverEpochsBesideOthersThatComeAndGo) {
  const Covered with = epochs_beside_others(true), without = epochs_beside_others(false);
  ASSERT_GT(with.all, 500);
  EXPECT_GE(with.inside, 0.9 * with.all);
  EXPECT_LE(without.inside, 0.5 * without.all) << "blind to the weather";
}

}  // namespace
}  // namespace assay
