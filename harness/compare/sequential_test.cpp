// The rules of a gate of two builds on hand-made launches.
#include "compare/sequential.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

/// `count` launches in which the head took `ratio` times as long, and the control `control` times.
TrialLogs steady(std::size_t count, double ratio, double control = 1) {
  return {.head = std::vector<double>(count, std::log(ratio)),
          .control = std::vector<double>(count, std::log(control))};
}

SequentialRuling alone(const TrialLogs& trial) { return rule({&trial, 1}, {}).trials.front(); }

TEST(SequentialRules, TheScreenPassesWhatDoesNotMove) {
  const SequentialRuling ruling = alone(steady(8, 1.002));
  EXPECT_EQ(ruling.standing, Standing::same);
  EXPECT_TRUE(ruling.screened);
  EXPECT_EQ(ruling.launches, 8U);
}

TEST(SequentialRules, TheScreenToleratesOneStrayLaunchOfEightAndNotTwo) {
  // One of eight beyond 2 %: p = 9/256. Two: p = 37/256, over 5 %.
  TrialLogs trial = steady(8, 1.0);
  trial.head[3] = 0.5;
  EXPECT_EQ(alone(trial).standing, Standing::same);
  trial.head[5] = 0.5;
  EXPECT_EQ(alone(trial).standing, Standing::undecided);
}

TEST(SequentialRules, TheScreenAloneCallsNothingSlower) {
  EXPECT_EQ(alone(steady(8, 2)).standing, Standing::undecided);
  EXPECT_EQ(alone(steady(7, 1)).standing, Standing::undecided)
      << "a screen that is not complete decides nothing";
}

// With one trial left and eight looks the level of a look is 0.01 / 8 = 0.00125: eight launches of eight have
// p = 1/256, ten of ten 1/1024, and the look after ten is that at twelve.
TEST(SequentialRules, ASlowTrialIsFoundAtTheFirstLookThatCan) {
  EXPECT_EQ(alone(steady(8 + 8, 1.03)).standing, Standing::undecided);
  const SequentialRuling ruling = alone(steady(8 + 12, 1.03));
  EXPECT_EQ(ruling.standing, Standing::slower);
  EXPECT_EQ(ruling.launches, 12U);
  EXPECT_FALSE(ruling.screened);
}

TEST(SequentialRules, AFastTrialIsFoundByTheSameRule) {
  EXPECT_EQ(alone(steady(8 + 12, 1 / 1.03)).standing, Standing::faster);
}

TEST(SequentialRules, WhatLiesWithinTheMarginIsNeverSlower) {
  EXPECT_NE(alone(steady(8 + 135, 1.0099)).standing, Standing::slower);
}

TEST(SequentialRules, LaunchesOfTheScreenDoNotCountAgainstATrialThatTheyChose) {
  TrialLogs trial = steady(8, 1.5);
  for (int launch = 0; launch < 8; ++launch) trial.head.push_back(0);
  EXPECT_EQ(alone(trial).standing, Standing::same);
}

TEST(SequentialRules, ALookDecidesAndLaterLaunchesChangeNothing) {
  TrialLogs trial = steady(8 + 12, 1.03);
  for (int launch = 0; launch < 60; ++launch) trial.head.push_back(0);
  EXPECT_EQ(alone(trial).standing, Standing::slower);
  EXPECT_EQ(alone(trial).launches, 12U);
}

TEST(SequentialRules, MoreOpenTrialsAskForMoreLaunches) {
  // 20 trials are open: 0.00125 / 20 = 6.25e-5, more than twelve of twelve (2.4e-4), less than 17 of 18
  // (7.2e-5).
  std::vector<TrialLogs> trials(20, steady(8 + 12, 1.03));
  EXPECT_EQ(rule(trials, {}).trials.front().standing, Standing::undecided);
  for (TrialLogs& trial : trials) trial = steady(8 + 18, 1.03);
  const Rulings rulings = rule(trials, {});
  EXPECT_EQ(rulings.family, 20U);
  EXPECT_EQ(rulings.trials.front().standing, Standing::slower);
  EXPECT_EQ(rulings.trials.front().launches, 18U);
}

TEST(SequentialRules, TrialsThatTheScreenDecidedAreNotInTheFamily) {
  std::vector<TrialLogs> trials(50, steady(8, 1));
  trials.push_back(steady(8 + 12, 1.03));
  const Rulings rulings = rule(trials, {});
  EXPECT_EQ(rulings.family, 1U);
  EXPECT_EQ(rulings.trials.back().standing, Standing::slower);
}

TEST(SequentialRules, AControlThatMovesIsSeenBesideAHeadThatMoves) {
  EXPECT_TRUE(alone(steady(8 + 12, 1.03, 1.03)).control_moved);
  EXPECT_TRUE(alone(steady(8 + 12, 1.03, 1 / 1.03)).control_moved);
  EXPECT_FALSE(alone(steady(8 + 12, 1.03, 1.001)).control_moved);
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
  EXPECT_NEAR(smallest_visible(steady(8, 1), 1, {}), 1.02, 1e-9) << "never below what `same` excludes";
  // Launches that scatter evenly over 10 % leave nothing below several percent.
  TrialLogs wide;
  for (int launch = 0; launch < 40; ++launch) wide.control.push_back(-0.05 + 0.1 * launch / 39.0);
  EXPECT_GT(smallest_visible(wide, 10, {}), 1.02);
  EXPECT_LT(smallest_visible(wide, 10, {}), 1.10);
  EXPECT_EQ(smallest_visible({}, 1, {}), 0);
}

}  // namespace
}  // namespace assay
