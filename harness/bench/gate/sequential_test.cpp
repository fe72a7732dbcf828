// The rules of a gate of two builds on hand-made launches.
#include "bench/gate/sequential.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

/// `count` launches in which the head took `ratio` times as long, and the control `control` times.
TrialLogs steady(std::size_t count, double ratio, double control = 1) {
  return {.head = std::vector<double>(count, std::log(ratio)),
          .control = std::vector<double>(count, std::log(control)),
          .to_control = std::vector<double>(count, std::log(ratio / control))};
}

SequentialDecision alone(const TrialLogs& trial) { return rule({&trial, 1}, {}).trials.front(); }

TEST(SequentialRules, TheScreenPassesWhatDoesNotMove) {
  const SequentialDecision decision = alone(steady(8, 1.002));
  EXPECT_EQ(decision.standing, Standing::same);
  EXPECT_TRUE(decision.screened);
  EXPECT_EQ(decision.launches, 8U);
}

TEST(SequentialRules, TheScreenToleratesOneStrayLaunchOfEightAndNotTwo) {
  // The interval from the second to the seventh of eight covers 1 - 2 x 9/256; with the third it would 1 - 2
  // x 37/256.
  TrialLogs trial = steady(8, 1.0);
  trial.head[3] = 0.5;
  EXPECT_EQ(alone(trial).standing, Standing::same);
  trial.head[5] = 0.5;
  EXPECT_EQ(alone(trial).standing, Standing::undecided);
}

TEST(SequentialRules, TheScreenAloneCallsNothingSlower) {
  const SequentialDecision decision = alone(steady(8, 2));
  EXPECT_EQ(decision.standing, Standing::probably_slower);
  EXPECT_DOUBLE_EQ(decision.chance, 255.0 / 256);
}

// Five of five lie on one side with chance 1/32, four with 1/16: no interval of four covers 90 %.
TEST(SequentialRules, AScreenThatIsCutOffDecidesFromFiveLaunchesOn) {
  EXPECT_EQ(alone(steady(5, 1)).standing, Standing::same);
  EXPECT_EQ(alone(steady(4, 1)).standing, Standing::undecided);
  EXPECT_EQ(alone(steady(4, 2)).standing, Standing::undecided);
  TrialLogs stray = steady(7, 1);
  stray.head[2] = 0.02;
  EXPECT_EQ(alone(stray).standing, Standing::undecided) << "of seven all count";
}

TEST(SequentialRules, NothingIsTheSameWhoseIntervalGoesBeyondTheLimitOnEitherSide) {
  for (const double far : {1.011, 1 / 1.011}) {
    TrialLogs trial = steady(16, 1);
    for (std::size_t i = 0; i < 5; ++i) trial.head[i] = std::log(far);
    EXPECT_EQ(alone(trial).standing, far > 1 ? Standing::undecided : Standing::not_slower) << far;
    const Interval shown = deciding_interval(trial, 16, {});
    EXPECT_NEAR(far > 1 ? shown.high : shown.low, std::log(far), 1e-12) << far;
    trial.head[0] = 0;
    EXPECT_EQ(alone(trial).standing, Standing::same) << far;
  }
}

TEST(SequentialRules, NumbersWithFewDigitsWidenTheInterval) {
  TrialLogs trial = steady(16, 1);
  trial.resolution = 0.011;
  EXPECT_EQ(alone(trial).standing, Standing::undecided);
  trial = steady(16, 1.03);
  trial.resolution = 0.021;
  EXPECT_EQ(alone(trial).standing, Standing::undecided);
  EXPECT_NEAR(deciding_interval(trial, 16, {}).low, std::log(1.03) - 0.021, 1e-12);
}

// With one trial and eight looks, that at the end of time among them, the level of a look is 0.01 / 8 =
// 0.00125: nine launches of nine have p = 1/512, ten of ten 1/1024.
TEST(SequentialRules, ASlowTrialIsFoundAtTheFirstLook) {
  const SequentialDecision decision = alone(steady(16, 1.03));
  EXPECT_EQ(decision.standing, Standing::slower);
  EXPECT_EQ(decision.launches, 16U);
  EXPECT_FALSE(decision.screened);
}

// Fifteen of sixteen launches have p = 17/65536 = 0.00026: enough for the first of four trials at 0.00125 /
// 4, too little for one of eight.
TEST(SequentialRules, AShardCountsTheTrialsOfAll) {
  std::vector<TrialLogs> trials(4, steady(16, 1.0));
  trials[2] = steady(16, 1.03);
  trials[2].head[5] = 0;
  EXPECT_EQ(rule(trials, {}).trials[2].standing, Standing::slower);

  const SequentialDecisions of_eight = rule(trials, {.family = 8});
  EXPECT_EQ(of_eight.family, 8U);
  EXPECT_EQ(of_eight.trials[2].standing, Standing::probably_slower);
}

// Two stray launches of 20: p = 211 / 2^20 = 0.0002; three of 25: 2626 / 2^25 = 0.00008. At 16 both have more
// than 0.00125 / 2, and so has the second at 21.
TEST(SequentialRules, TrialsWhoseTimeRanOutAtDifferentLaunchesHaveALastLookEach) {
  std::vector<TrialLogs> trials{steady(20, 1.03), steady(25, 1.03)};
  for (std::size_t i = 0; i < 2; ++i) trials[0].head[i] = 0;
  for (std::size_t i = 0; i < 3; ++i) trials[1].head[i] = 0;
  const SequentialDecisions decisions = rule(trials, {});
  EXPECT_EQ(decisions.trials[0].standing, Standing::slower);
  EXPECT_EQ(decisions.trials[0].launches, 20U);
  EXPECT_EQ(decisions.trials[1].standing, Standing::slower);
  EXPECT_EQ(decisions.trials[1].launches, 25U);
}

TEST(SequentialRules, ASlowTrialIsFoundWhenTimeRunsOutBeforeALook) {
  EXPECT_EQ(alone(steady(9, 1.03)).standing, Standing::probably_slower);
  EXPECT_EQ(alone(steady(10, 1.03)).standing, Standing::slower);
  EXPECT_EQ(alone(steady(10, 1.03)).launches, 10U);
}

TEST(SequentialRules, AFastTrialIsFoundByTheSameRule) {
  EXPECT_EQ(alone(steady(16, 1 / 1.03)).standing, Standing::faster);
}

// Its question is answered, so that it leaves the rest of the time to others unless it may yet be faster.
TEST(SequentialRules, ATrialWhoseSlowDownIsExcludedIsNotSlowerAndGoesOnWhileItMayBeFaster) {
  TrialLogs trial = steady(8, 1 / 1.03);
  EXPECT_EQ(alone(trial).standing, Standing::not_slower);
  EXPECT_TRUE(alone(trial).goes_on);
  trial.head[0] = trial.head[1] = 0;
  EXPECT_EQ(alone(trial).standing, Standing::not_slower);
  EXPECT_FALSE(alone(trial).goes_on);
  trial.head.pop_back();
  EXPECT_TRUE(alone(trial).goes_on) << "the screen is not over";
  trial.head[0] = trial.head[1] = std::log(1.03);
  EXPECT_EQ(alone(trial).standing, Standing::undecided);
  EXPECT_TRUE(alone(trial).goes_on);
}

TEST(SequentialRules, WhatLiesWithinTheMarginIsNeverSlower) {
  EXPECT_NE(alone(steady(143, 1.0099)).standing, Standing::slower);
}

TEST(SequentialRules, ALookDecidesAndLaterLaunchesChangeNothing) {
  TrialLogs trial = steady(16, 1.03);
  for (int launch = 0; launch < 60; ++launch) trial.head.push_back(0);
  EXPECT_EQ(alone(trial).standing, Standing::slower);
  EXPECT_EQ(alone(trial).launches, 16U);
}

TEST(SequentialRules, MoreTrialsAskForMoreLaunches) {
  // 100 trials: 0.00125 / 100 = 1.25e-5, less than 16 of 16 (1.5e-5), more than 20 of 21 (1.05e-5).
  std::vector<TrialLogs> trials(100, steady(16, 1.03));
  EXPECT_EQ(rule(trials, {}).trials.front().standing, Standing::probably_slower);
  for (TrialLogs& trial : trials) {
    trial = steady(21, 1.03);
    trial.head[5] = 0;
  }
  const SequentialDecisions decisions = rule(trials, {});
  EXPECT_EQ(decisions.family, 100U);
  EXPECT_EQ(decisions.trials.front().standing, Standing::slower);
  EXPECT_EQ(decisions.trials.front().launches, 21U);
}

TEST(SequentialRules, ASmallerFamilyLeavesMoreOfTheLevelToEach) {
  // Sixteen of sixteen have p = 1.53e-5: more than 0.00125 / 82, less than 0.00125 / 81 = 1.54e-5.
  std::vector<TrialLogs> trials(82, steady(8, 1));
  trials[0] = steady(16, 1.03);
  EXPECT_EQ(rule(trials, {}).trials[0].standing, Standing::probably_slower);
  EXPECT_EQ(rule(std::span(trials).first(81), {}).trials[0].standing, Standing::slower);
}

TEST(SequentialRules, TrialsThatTheScreenDecidedAreInTheFamily) {
  std::vector<TrialLogs> trials(99, steady(8, 1));
  trials.push_back(steady(16, 1.03));
  const SequentialDecisions decisions = rule(trials, {});
  EXPECT_EQ(decisions.family, 100U);
  EXPECT_EQ(decisions.trials.back().standing, Standing::probably_slower) << "1.5e-5 is above 1.25e-5";
}

TEST(SequentialRules, AControlThatMovesIsSeenBesideAHeadThatMoves) {
  EXPECT_TRUE(alone(steady(16, 1.03, 1.03)).control_moved);
  EXPECT_TRUE(alone(steady(16, 1.03, 1 / 1.03)).control_moved);
  EXPECT_FALSE(alone(steady(16, 1.03, 1.001)).control_moved);
}

// Thirteen launches of sixteen have p = 0.0106 and fourteen 0.0021: the copy of the base is asked at 0.01.
TEST(SequentialRules, NothingIsSlowerThatTheCopyOfTheBaseIsAsWell) {
  EXPECT_EQ(alone(steady(16, 1.03, 1.03)).standing, Standing::undecided);
  EXPECT_EQ(alone(steady(16, 1 / 1.03, 1 / 1.03)).standing, Standing::not_slower);
  TrialLogs trial = steady(16, 1.03);
  for (std::size_t i = 0; i < 3; ++i) trial.to_control[i] = 0;
  EXPECT_EQ(alone(trial).standing, Standing::probably_slower);
  trial.to_control[2] = std::log(1.02);
  EXPECT_EQ(alone(trial).standing, Standing::slower);
}

TEST(SequentialRules, NothingIsTheSameThatTheCopyOfTheBaseIsFasterThan) {
  EXPECT_EQ(alone(steady(8, 1, 1 / 1.05)).standing, Standing::undecided);
  EXPECT_TRUE(alone(steady(8, 1, 1 / 1.05)).goes_on);
  EXPECT_EQ(alone(steady(8, 0.98, 0.95)).standing, Standing::undecided) << "not slower than a base that was";
}

/// `count` launches of eight layouts, of which these are slower by 4 %.
TrialLogs in_layouts(std::size_t count, std::size_t slow) {
  TrialLogs out;
  for (std::size_t launch = 0; launch < count; ++launch) {
    out.layouts.push_back(launch % 8);
    out.head.push_back(std::log(launch % 8 < slow ? 1.04 : 0.995));
    out.control.push_back(0);
  }
  return out;
}

// 125 launches of 143 have a p-value of 1e-20: launches alone would decide it.
TEST(SequentialRules, WhatIsSlowerInSomeLayoutsOnlyIsNotDecided) {
  const SequentialDecision decision = alone(in_layouts(143, 7));
  EXPECT_EQ(decision.standing, Standing::undecided);
  EXPECT_TRUE(decision.by_layout);
  TrialLogs unlabelled = in_layouts(143, 7);
  unlabelled.layouts.clear();
  EXPECT_EQ(alone(unlabelled).standing, Standing::slower);
}

TEST(SequentialRules, WhatIsSlowerInAllLayoutsIsSlower) {
  TrialLogs trial = in_layouts(16, 8);
  EXPECT_EQ(alone(trial).standing, Standing::slower);
  EXPECT_FALSE(alone(trial).by_layout);
  trial.head[5] = 0;
  EXPECT_EQ(alone(trial).standing, Standing::slower) << "one of the two launches of a layout may be stray";
  for (double& log : trial.head) log = -log;
  EXPECT_EQ(alone(trial).standing, Standing::faster);
}

TEST(SequentialRules, AShardHasTheWholeLevelForTheControlOfAllItsTrials) {
  const std::vector<TrialLogs> moved(10, steady(8, 1, 1.008));
  EXPECT_NE(rule(moved, {.family = 100}).unfit, "");
}

TEST(SequentialRules, AControlThatMovesInAllTrialsTogetherMakesTheMachineUnfit) {
  const std::vector<TrialLogs> moved(10, steady(8, 1, 1.008));
  EXPECT_NE(rule(moved, {}).unfit, "");
  const std::vector<TrialLogs> steady_ones(10, steady(8, 1, 1.004));
  EXPECT_EQ(rule(steady_ones, {}).unfit, "");
  const std::vector<TrialLogs> few(4, steady(8, 1, 1.008));
  EXPECT_EQ(rule(few, {}).unfit, "") << "four trials are no median";
}

TEST(SequentialRules, NameTheSmallestChangeThatTheyCouldSee) {
  EXPECT_NEAR(smallest_visible(steady(8, 1), 1, 143, {}), 1.01, 1e-9) << "never below what `same` excludes";
  // Launches that scatter evenly over 10 % leave nothing below several percent.
  TrialLogs wide;
  for (int launch = 0; launch < 40; ++launch) wide.control.push_back(-0.05 + 0.1 * launch / 39.0);
  EXPECT_GT(smallest_visible(wide, 10, 143, {}), 1.01);
  EXPECT_LT(smallest_visible(wide, 10, 143, {}), 1.10);
  EXPECT_EQ(smallest_visible({}, 1, 143, {}), 0);
  EXPECT_EQ(smallest_visible(steady(4, 1), 1, 143, {}), 0) << "four launches show nothing";
  EXPECT_GT(smallest_visible(wide, 10, 143, {}, 0.05), smallest_visible(wide, 10, 143, {}) + 0.01)
      << "what layouts add";
}

// All of sixteen launches must lie above the margin, and what does so 19 times in 20 lies far out.
TEST(SequentialRules, SeeLessWithFewerLaunches) {
  TrialLogs wide;
  for (int launch = 0; launch < 40; ++launch) wide.control.push_back(-0.05 + 0.1 * launch / 39.0);
  EXPECT_GT(smallest_visible(wide, 10, 16, {}), smallest_visible(wide, 10, 143, {}) + 0.01);
  EXPECT_EQ(smallest_visible(wide, 10, 8, {}), 0)
      << "eight of eight are more likely than the level of a look";
}

// The head of one of 60 trials is slower after 16 launches of 16: 1.53e-5 is below 0.00125 / 60.
TEST(SequentialRules, AControlThatMovesAsFarAsAHeadThatIsSlowerIsSeen) {
  std::vector<TrialLogs> trials(60, steady(8, 1));
  trials[7] = steady(16, 1.03, 1.03);
  const SequentialDecisions decisions = rule(trials, {});
  EXPECT_EQ(decisions.trials[7].standing, Standing::undecided);
  EXPECT_TRUE(decisions.trials[7].control_moved);
}

// Three stray launches of 28 have p = 1.372e-5: too much for one of a hundred trials, and enough for one of
// the 91 that are left when nine were found.
TEST(SequentialRules, AControlIsHeldToTheLevelOfTheLastTrialThatMoved) {
  std::vector<TrialLogs> trials(100, steady(8, 1));
  for (std::size_t i = 0; i < 9; ++i) trials[i] = steady(28, 1.03);
  trials[9] = steady(28, 1.03, 1 / 1.03);
  for (std::size_t i = 0; i < 3; ++i) trials[9].head[i] = trials[9].control[i] = 0;
  const SequentialDecisions decisions = rule(trials, {});
  EXPECT_EQ(decisions.trials[9].standing, Standing::slower);
  EXPECT_TRUE(decisions.trials[9].control_moved);
}

}  // namespace
}  // namespace assay
