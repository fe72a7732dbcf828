// Slices given to trials by how much their pairs vary, on launches that are made up.
#include "bench/gate/two_builds.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

/// A launch of n pairs of 1 ms calls, of which the head's take alternately exp(+-deviation) times as long.
PairedLaunch launch_of(std::size_t n, double deviation, double ratio = 1) {
  PairedLaunch out;
  for (std::size_t i = 0; i < n; ++i) {
    out.base.push_back(1e-3);
    out.head.push_back(1e-3 * ratio * std::exp(i % 2 == 0 ? deviation : -deviation));
  }
  return out;
}

PairedTrial trial_of(std::size_t launches, std::size_t n, double deviation, double ratio = 1) {
  PairedTrial out{.trial = {.key = "k", .threads = 1}};
  out.launches.assign(launches, launch_of(n, deviation, ratio));
  return out;
}

constexpr PatiencePolicy policy{.luck = 0.008, .most = 32, .learning = 3, .screen = 0.2};

TEST(Patience, IsWhatBringsLuckWithinALaunchDownToWhatIsAsked) {
  // Robust deviation 1.4826 x 0.02; of a median of n pairs sqrt(pi / 2) x that / sqrt(n) = 0.008 with n
  // = 21.6, that is 3.6 times six.
  EXPECT_NEAR(wanted_patience(trial_of(3, 6, 0.02), policy), 3.596, 0.001);
}

TEST(Patience, GrowsWithTheSquareOfTheDeviationUpToItsMost) {
  const double once = wanted_patience(trial_of(3, 6, 0.02), policy);
  EXPECT_NEAR(wanted_patience(trial_of(3, 6, 0.04), policy), 4 * once, 1e-9);
  EXPECT_EQ(wanted_patience(trial_of(3, 6, 0.4), policy), 32);
}

TEST(Patience, IsTheUsualWherePairsAgreeOrLaunchesAreTooFewToTell) {
  EXPECT_EQ(wanted_patience(trial_of(3, 6, 0.001), policy), 1);
  EXPECT_EQ(wanted_patience(trial_of(2, 6, 0.4), policy), 1);
  EXPECT_EQ(wanted_patience(trial_of(0, 6, 0.4), policy), 1);
}

TEST(Patience, DoesNotAskWhichSideIsSlower) {
  const double equal = wanted_patience(trial_of(3, 6, 0.02), policy);
  EXPECT_NEAR(wanted_patience(trial_of(3, 6, 0.02, 1.2), policy), equal, 1e-9);
  EXPECT_NEAR(wanted_patience(trial_of(3, 6, 0.02, 0.8), policy), equal, 1e-9);
}

TEST(Patience, IsGrantedInFullOrInEqualSharesOfWhatIsWanted) {
  // 12 slices of 1 ms per launch, so that 2.596 times more takes 31 ms; the calm one wants nothing.
  std::vector<PairedTrial> trials{trial_of(3, 6, 0.02), trial_of(3, 6, 0.02), trial_of(3, 6, 0.001)};
  EXPECT_NEAR(grant_patience(trials, {0, 1, 2}, 1.0, policy), 2 * 2.596 * 0.012, 1e-4);
  EXPECT_NEAR(trials[0].patience, 3.596, 0.001);
  EXPECT_NEAR(grant_patience(trials, {0, 1, 2}, 2.596 * 0.012, policy), 2.596 * 0.012, 1e-4);
  EXPECT_NEAR(trials[0].patience, 1 + 2.596 / 2, 0.001);
  EXPECT_NEAR(trials[1].patience, 1 + 2.596 / 2, 0.001);
  EXPECT_EQ(trials[2].patience, 1);
}

TEST(Patience, IsNoneWithoutTimeToSpare) {
  std::vector<PairedTrial> trials{trial_of(3, 6, 0.02)};
  EXPECT_EQ(grant_patience(trials, {0}, -1.0, policy), 0);
  EXPECT_EQ(trials[0].patience, 1);
}

TEST(Patience, CountsTheSlicesOfShortCallsAsLongAsTheyAre) {
  PairedTrial trial{.trial = {.key = "k", .threads = 1}};
  trial.launches.push_back({.base = {1e-6, 1e-6}, .head = {1e-6, 1e-6}, .control = {1e-6, 1e-6}});
  EXPECT_NEAR(usual_slice_seconds(trial), 6 * 2e-4, 1e-12);
  trial.trial.threads = 2;
  EXPECT_NEAR(usual_slice_seconds(trial), 6 * 1e-3, 1e-12);
}

// The usual slices of a launch take 12 ms, and what is wanted 2.596 times as much besides: 43.15 ms in all.
constexpr double usual = 0.012, wanted = 2.596 * 0.012;

TEST(PatiencePlans, LetTheBudgetLastUntilTheThirdLookAndThenTheNext) {
  TwoBuilds run{.policy = {.screen = 2, .looks = {5, 6, 13, 23}}};
  run.trials = {trial_of(3, 6, 0.02)};
  PatiencePlan plan(policy);
  plan.plan(run, {0}, 2, 100);
  EXPECT_EQ(run.trials[0].patience, 1) << "two launches teach nothing";
  // A launch takes 40 times as long as its slices.
  plan.took(40 * usual);
  // Ten launches to the third look, with half of what is wanted in each.
  plan.plan(run, {0}, 3, 10 * 40 * (usual + wanted / 2));
  EXPECT_NEAR(run.trials[0].patience, 1 + 2.596 / 2, 0.001);
  plan.took(40 * (usual + wanted / 2));
  plan.plan(run, {0}, 13, 10 * 40 * (usual + wanted));
  EXPECT_NEAR(run.trials[0].patience, 3.596, 0.001);
}

TEST(PatiencePlans, LetTheScreenEndWithinItsShareOfTheBudget) {
  TwoBuilds run{.policy = {.screen = 8, .looks = {16, 21, 28}}, .budget_seconds = 100};
  run.trials = {trial_of(3, 6, 0.02)};
  PatiencePlan plan(policy);
  plan.plan(run, {0}, 2, 100);
  plan.took(100 * usual);
  // The screen has 20 of the 100 s, of which these five launches have enough left for half of what is wanted.
  // By the third look alone there would be enough for all of it.
  plan.plan(run, {0}, 3, 80 + 5 * 100 * (usual + wanted / 2));
  EXPECT_NEAR(run.trials[0].patience, 1 + 2.596 / 2, 0.001);
  plan.took(100 * (usual + wanted / 2));
  plan.plan(run, {0}, 7, 80);
  EXPECT_EQ(run.trials[0].patience, 1) << "the share is used up";
  plan.took(100 * usual);
  plan.plan(run, {0}, 8, 20 * 100 * (usual + wanted));
  EXPECT_NEAR(run.trials[0].patience, 3.596, 0.001) << "the screen is over";
}

// On a machine so busy that a launch takes four times as long as planned, a launch that got little for that
// is not followed by one that gets too much.
TEST(PatiencePlans, GrantAlikeLaunchAfterLaunch) {
  TwoBuilds run{.policy = {.screen = 3, .looks = {16, 21, 28}}};
  run.trials = {trial_of(3, 6, 0.02)};
  PatiencePlan plan(policy);
  plan.plan(run, {0}, 2, 1);
  plan.took(0.1 + 4 * usual);
  double left = 25 * (0.1 + 4 * (usual + wanted / 2));
  for (std::size_t launch = 3; launch < 28; ++launch) {
    plan.plan(run, {0}, launch, left);
    const double seconds = 0.1 + 4 * usual * run.trials[0].patience;
    if (launch > 10) {
      EXPECT_NEAR(run.trials[0].patience, 1 + 2.596 / 2, 0.6) << "launch " << launch;
    }
    plan.took(seconds);
    left -= seconds;
  }
  EXPECT_NEAR(left, 0, 0.05);
}

}  // namespace
}  // namespace assay
