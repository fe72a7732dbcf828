#include "training/epoch/calibration.hpp"

#include "assay/error.hpp"
#include "training/epoch/forecast.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <numeric>

namespace assay {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TimedWindow window_of(std::vector<double> seconds, Index first_step = 10) {
  TimedWindow out{.first_step = first_step, .steps = static_cast<Index>(seconds.size())};
  for (const double one : seconds) out.wall_seconds += one;
  out.step_seconds = std::move(seconds);
  return out;
}

StepPhase phase_of(const char* name, PhaseKind kind, std::vector<double> seconds) {
  StepPhase out{.name = name, .kind = kind, .samples = static_cast<Index>(seconds.size())};
  for (const double one : seconds) out.mean_seconds += one / static_cast<double>(seconds.size());
  out.seconds = std::move(seconds);
  return out;
}

/// `steps` times of about `seconds`, alternately 1 % above and below.
std::vector<double> about(double seconds, std::size_t steps) {
  std::vector<double> out;
  for (std::size_t i = 0; i < steps; ++i) out.push_back(seconds * (i % 2 == 0 ? 1.01 : 0.99));
  return out;
}

std::vector<double> joined(std::vector<double> first, const std::vector<double>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(Calibration, OfSteadyStepsRaisesNoDoubt) {
  const Calibration c = calibrate({.windows = {window_of(about(0.1, 40))}});
  EXPECT_THAT(c.flags, IsEmpty());
  EXPECT_NEAR(c.period.mean, 0.1, 1e-12);
  EXPECT_LT(c.pace, 0.1);
}

// Four steps of 0.5 s before 36 of 0.1 s: 4 * 0.4 s are start-up.
TEST(Calibration, TakesWarmUpOutOfThePeriod) {
  const Calibration c = calibrate({.windows = {window_of(joined(about(0.5, 4), about(0.1, 36)), 0)}});
  EXPECT_TRUE(c.flagged(Doubt::warm_up));
  EXPECT_FALSE(c.flagged(Doubt::drift));
  EXPECT_NEAR(c.period.mean, 0.1, 1e-9);
  EXPECT_TRUE(c.one_off_known);
  EXPECT_NEAR(c.one_off, 1.6, 1e-9);
}

TEST(Calibration, DoesNotCallStartUpWhatCameLaterInTheEpoch) {
  const Calibration c = calibrate({.windows = {window_of(joined(about(0.5, 4), about(0.1, 36)), 300)}});
  EXPECT_TRUE(c.flagged(Doubt::warm_up));
  EXPECT_FALSE(c.one_off_known);
}

TEST(Calibration, RaisesDriftWhereTheSecondHalfIsSlower) {
  const Calibration c = calibrate({.windows = {window_of(joined(about(0.1, 20), about(0.11, 20)))}});
  ASSERT_TRUE(c.flagged(Doubt::drift));
  EXPECT_THAT(c.flags[0].text, HasSubstr("from step 30 on, steps are 10.0 % slower"));
  EXPECT_GE(c.pace, std::log(1.1) - 1e-9);
}

// Twenty steps that vary by 10 % from one to the next, as beside others; and by 1 %.
TEST(Calibration, TellsByTheScatterOfNeighboursHowFarLaterStepsMayBe) {
  std::vector<double> calm, rough;
  for (int i = 0; i < 20; ++i) {
    calm.push_back(i % 2 == 0 ? 0.1 : 0.101);
    rough.push_back(i % 2 == 0 ? 0.1 : 0.11);
  }
  EXPECT_NEAR(calibrate({.windows = {window_of(calm)}}).pace, 3.5 * std::log(1.01), 1e-9);
  EXPECT_NEAR(calibrate({.windows = {window_of(rough)}}).pace, 3.5 * std::log(1.1), 1e-9);
  Job job{.windows = {window_of(rough)}};
  job.weather = {.seconds = 6};
  EXPECT_NEAR(calibrate(job).pace, 0.12, 1e-9) << "nobody else was there";
  EXPECT_NEAR(calibrate({.windows = {window_of({0.1, 0.1, 0.1})}}).pace, 0.36, 1e-9) << "too few to tell";
}

TEST(Calibration, RaisesDriftBetweenWindows) {
  const Calibration c = calibrate({.windows = {window_of(about(0.1, 20)), window_of(about(0.08, 20), 50)}});
  ASSERT_TRUE(c.flagged(Doubt::drift));
  EXPECT_THAT(c.flags[0].text, HasSubstr("window from step 50 on is 20.0 % faster"));
}

TEST(Calibration, KeepsColdAndWarmWindowsApart) {
  TimedWindow cold = window_of(about(0.2, 20)), warm = window_of(about(0.1, 20), 50);
  cold.cache = PageCache::cold;
  warm.cache = PageCache::warm;
  const Calibration c = calibrate({.windows = {cold, warm}});
  EXPECT_TRUE(c.flagged(Doubt::cache));
  EXPECT_FALSE(c.flagged(Doubt::drift)) << "it is known what moved";
  EXPECT_EQ(c.cache, PageCache::warm);
  EXPECT_NEAR(c.period.mean, 0.1, 1e-9);
}

TEST(Calibration, UsesThePhasesOfTheWarmWindowsAlone) {
  TimedWindow cold = window_of(about(0.2, 20)), warm = window_of(about(0.1, 20), 50);
  cold.cache = PageCache::cold;
  warm.cache = PageCache::warm;
  const Job job{.loader = {.workers = 0},
                .windows = {cold, warm},
                .phases = {phase_of("load", PhaseKind::load,
                                    joined(std::vector<double>(20, 0.15), std::vector<double>(20, 0.05)))}};
  const Calibration c = calibrate(job);
  EXPECT_THAT(c.load, SizeIs(20));
  EXPECT_THAT(c.load, Each(DoubleEq(0.05)));
}

// A step of 0.101 or 0.099 s, of which 0.04 s are loading.
TEST(Calibration, TakesTheRestOfAStepFromItsLoading) {
  const Job job{.loader = {.workers = 0},
                .windows = {window_of(about(0.1, 4))},
                .phases = {phase_of("load", PhaseKind::load, std::vector<double>(4, 0.04))}};
  const Calibration c = calibrate(job);
  EXPECT_THAT(c.load, ElementsAre(0.04, 0.04, 0.04, 0.04));
  EXPECT_THAT(c.rest, ElementsAre(DoubleNear(0.061, 1e-12), DoubleNear(0.059, 1e-12),
                                  DoubleNear(0.061, 1e-12), DoubleNear(0.059, 1e-12)));
  EXPECT_NEAR(c.waited, 0.04, 1e-12);
}

TEST(Calibration, TakesMeansWhereNothingElseIsKnown) {
  const Job job{.loader = {.workers = 2},
                .phases = {{.name = "worker", .kind = PhaseKind::load, .overlaps = true, .mean_seconds = 0.3},
                           {.name = "forward", .kind = PhaseKind::compute, .mean_seconds = 0.1},
                           {.name = "backward", .kind = PhaseKind::compute, .mean_seconds = 0.2}}};
  const Calibration c = calibrate(job);
  EXPECT_THAT(c.load, ElementsAre(0.3));
  ASSERT_THAT(c.rest, SizeIs(1));
  EXPECT_NEAR(c.rest[0], 0.3, 1e-12);
  EXPECT_TRUE(c.contention_assumed);
}

TEST(Calibration, DoesNotTakeWaitingForLoading) {
  const Job job{.loader = {.workers = 4},
                .windows = {window_of(about(0.1, 4))},
                .phases = {phase_of("load", PhaseKind::load, std::vector<double>(4, 0.04))}};
  const Calibration c = calibrate(job);
  EXPECT_THAT(c.load, IsEmpty());
  EXPECT_THAT(c.no_load, HasSubstr("only what the loop waits"));
  EXPECT_THAT(calibrate({.windows = {window_of({1, 1})}}).no_load, HasSubstr("workers is not stated"));
}

TEST(Calibration, LeavesPartsThatAreLongerThanTheWholeToTheArithmetic) {
  const Job job{.loader = {.workers = 0},
                .windows = {window_of(about(0.1, 4))},
                .phases = {phase_of("load", PhaseKind::load, std::vector<double>(4, 0.06)),
                           phase_of("forward", PhaseKind::compute, std::vector<double>(4, 0.05))}};
  EXPECT_FALSE(calibrate(job).flagged(Doubt::parts));
  EXPECT_THAT(lint(job), ::testing::Contains(::testing::Field(&LintFinding::rule, Rule::parts_of_step)));
}

TEST(Calibration, NeverAddsValidationToTraining) {
  const Job job{.windows = {window_of(about(0.1, 4))},
                .phases = {{.name = "forward", .kind = PhaseKind::compute, .mean_seconds = 0.1},
                           {.name = "evaluate",
                            .kind = PhaseKind::compute,
                            .scope = Scope::validation,
                            .mean_seconds = 0.07}}};
  const Calibration c = calibrate(job);
  EXPECT_THAT(c.parts, SizeIs(1));
  EXPECT_EQ(c.validation.mean, 0.07);
  EXPECT_EQ(c.validation.freedom, 0) << "a mean alone has no spread";
  EXPECT_EQ(c.checkpoint.steps, 0);
}

// Batches of validation of 0.01 + 0.02 and 0.03 + 0.02 s: mean 0.04, variance 2 * 0.01^2 by one degree of
// freedom.
TEST(Calibration, AddsThePhasesOfAScopeBatchByBatch) {
  Job job{.windows = {window_of(about(0.1, 4))},
          .phases = {phase_of("validation load", PhaseKind::load, {0.01, 0.03}),
                     phase_of("validation forward", PhaseKind::compute, {0.02, 0.02}),
                     phase_of("checkpoint", PhaseKind::other, {0.5})}};
  job.phases[0].scope = job.phases[1].scope = Scope::validation;
  job.phases[2].scope = Scope::checkpoint;
  const Calibration c = calibrate(job);
  EXPECT_THAT(c.parts, IsEmpty());
  EXPECT_NEAR(c.validation.mean, 0.04, 1e-12);
  EXPECT_NEAR(c.validation.variance, 2e-4, 1e-12);
  EXPECT_EQ(c.validation.steps, 2);
  EXPECT_EQ(c.checkpoint.mean, 0.5);
  EXPECT_EQ(c.checkpoint.steps, 1);
}

TEST(Calibration, NeedsAWindowOrPhases) { EXPECT_THROW(calibrate({.source = "f.json"}), Error); }

/// Twelve runs of eight steps, half a second apart. The first step of each takes 5 ms more.
Job runs_of(const std::function<double(int)>& step_seconds) {
  Job out{.source = "by hand"};
  for (int run = 0; run < 12; ++run) {
    TimedWindow window{.steps = 8, .run = run, .began = 0.5 * run};
    window.step_seconds.assign(8, step_seconds(run));
    window.step_seconds.front() += 0.005;
    window.wall_seconds = std::accumulate(window.step_seconds.begin(), window.step_seconds.end(), 0.0);
    out.windows.push_back(window);
  }
  return out;
}

TEST(CalibratedRuns, AreGroupsWithoutTheirFirstSteps) {
  const Calibration c = calibrate(runs_of([](int run) { return run % 2 == 0 ? 0.010 : 0.012; }));
  ASSERT_EQ(c.steady.size(), 12U);
  EXPECT_EQ(c.steady[0].steps, 6) << "a quarter is start-up";
  EXPECT_NEAR(c.period.mean, 0.011, 1e-12);
  EXPECT_EQ(c.period.freedom, 11);
  EXPECT_THAT(c.runs, Each(6));
  EXPECT_NEAR(c.span, 6, 1e-12);
  EXPECT_FALSE(c.flagged(Doubt::drift)) << "they go to and fro";
  EXPECT_FALSE(c.flagged(Doubt::warm_up)) << "that runs start slowly is known";
}

TEST(CalibratedRuns, DriftWhereLaterOnesAreSlower) {
  const Calibration c =
      calibrate(runs_of([](int run) { return (run < 7 ? 0.010 : 0.013) + 1e-5 * (run % 2); }));
  ASSERT_TRUE(c.flagged(Doubt::drift));
  EXPECT_THAT(c.flags[0].text, HasSubstr("from run 8 on"));
}

// Five are too few to be groups: their steps are.
TEST(CalibratedRuns, AreGroupsWhenThereAreEnough) {
  Job job = runs_of([](int) { return 0.010; });
  job.windows.resize(5);
  EXPECT_GT(calibrate(job).all.size(), 5U);
}

TEST(Calibration, DoubtWhatWasTimedBesideOthers) {
  Job job{.windows = {{.steps = 4, .wall_seconds = 4, .step_seconds = {1, 1, 1, 1}}}};
  job.weather = {.seconds = 6, .steal_share = 0.1, .other_busy_share = 0.3};
  const Calibration busy = calibrate(job);
  EXPECT_DOUBLE_EQ(busy.taken_share, 0.4);
  EXPECT_TRUE(busy.flagged(Doubt::weather));
  job.weather = {.seconds = 6, .other_busy_share = 0.005};
  EXPECT_FALSE(calibrate(job).flagged(Doubt::weather)) << "next to nothing";
  job.weather = {.seconds = 0.2, .other_busy_share = 0.9};
  EXPECT_EQ(calibrate(job).taken_share, 0) << "too short to tell";
  job.weather = {.seconds = 6, .other_busy_share = 1.2};
  EXPECT_DOUBLE_EQ(calibrate(job).taken_share, 0.9) << "an interval has an end";
}

}  // namespace
}  // namespace assay
