#include "assay/compare.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

Launch launch(std::initializer_list<double> seconds) {
  Launch out;
  for (const double s : seconds) out.push_back({.seconds = s, .cpu_seconds = s});
  return out;
}

TEST(TimeOf, IsTheMedianOfTheLaunchesWithTheCoverageTheyReach) {
  TrialResult trial;
  trial.launches = {launch({1, 2, 9}), launch({3, 3, 3}), launch({4, 5, 6})};
  const Interval time = time_of(trial);
  EXPECT_EQ(time.low, 2);
  EXPECT_EQ(time.middle, 3);
  EXPECT_EQ(time.high, 5);
  EXPECT_EQ(time.coverage, 0.75);
  EXPECT_EQ(time.basis, Basis::launches);
}

TEST(TimeOf, FallsBackToSlicesAndSaysSo) {
  TrialResult trial;
  trial.launches = {launch({3, 1, 2})};
  EXPECT_EQ(time_of(trial).middle, 2);
  EXPECT_EQ(time_of(trial).coverage, 0.75);
  EXPECT_EQ(time_of(trial).basis, Basis::slices);
  EXPECT_EQ(time_of(TrialResult{}).coverage, 0);
  EXPECT_EQ(time_of(TrialResult{}).middle, 0);
}

TEST(Speedup, PairsLaunchesSoThatSharedDriftCancels) {
  TrialResult naive, fast;
  naive.launches = {launch({2}), launch({4}), launch({8}), launch({16})};
  fast.launches = {launch({1}), launch({2}), launch({4}), launch({8})};
  const Interval ratio = speedup(naive, fast);
  EXPECT_DOUBLE_EQ(ratio.low, 2);
  EXPECT_DOUBLE_EQ(ratio.middle, 2);
  EXPECT_DOUBLE_EQ(ratio.high, 2);
  EXPECT_NEAR(ratio.coverage, 1 - 2 / 16.0, 1e-12)
      << "smallest and largest of four: 2 of 2^4 sign patterns miss";
}

TEST(Speedup, OfOneLaunchRestsOnSlices) {
  TrialResult naive, fast;
  naive.launches = {launch({2, 2.2, 2.1, 2})};
  fast.launches = {launch({1, 1.1, 1.05, 1})};
  EXPECT_EQ(speedup(naive, fast).basis, Basis::slices);
  EXPECT_DOUBLE_EQ(speedup(naive, fast).middle, 2);
  EXPECT_EQ(speedup(naive, TrialResult{}).middle, 0);
}

}  // namespace
}  // namespace assay
