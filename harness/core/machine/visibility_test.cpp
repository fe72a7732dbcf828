#include "core/machine/visibility.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

TEST(Visibility, KnowsTheBinomialTail) {
  EXPECT_NEAR(upper_tail(4, 3, 0.5), 5.0 / 16, 1e-12);  // (4 + 1) of 16 outcomes
  EXPECT_NEAR(upper_tail(3, 1, 0.2), 1 - 0.8 * 0.8 * 0.8, 1e-12);
  EXPECT_EQ(upper_tail(3, 0, 0.2), 1);
  EXPECT_EQ(upper_tail(3, 4, 0.2), 0);
  EXPECT_EQ(upper_tail(3, 3, 1), 1);
}

TEST(Visibility, CountsTheSignsThatATestNeeds) {
  EXPECT_EQ(least_successes(5, 0.05), 5);   // 1 of 32 is 3.1 %, 6 of 32 is 18.8 %
  EXPECT_EQ(least_successes(10, 0.05), 9);  // 11 of 1,024 is 1.1 %, 56 of 1,024 is 5.5 %
  EXPECT_EQ(least_successes(4, 0.05), 5);   // 1 of 16 is 6.3 %: no outcome is enough
}

TEST(Visibility, FindsTheProbabilityThatGivesThePower) {
  // All of two groups with power 0.81 need 0.9 each.
  EXPECT_NEAR(needed_probability(2, 2, 0.81), 0.9, 1e-9);
  const double p = needed_probability(30, 26, 0.95);
  EXPECT_NEAR(upper_tail(30, 26, p), 0.95, 1e-9);
}

TEST(Visibility, IsTheMarginOnAMachineWithoutNoise) {
  EXPECT_NEAR(smallest_visible_change(std::vector<double>(30, 0.0)), 0.01, 1e-12);
  EXPECT_EQ(spread_of(std::vector<double>(30, 0.0)), 0);
  EXPECT_NEAR(smallest_visible_change({}), 0.01, 1e-12);
  EXPECT_EQ(spread_of({}), 0);
}

TEST(Visibility, InterpolatesBetweenUnsortedDeviations) {
  // 95 % of the way from the smaller magnitude to the larger.
  EXPECT_NEAR(spread_of({-std::log(3.0), 0}), std::pow(3.0, 0.95) - 1, 1e-12);
}

TEST(Visibility, TakesTheSmallestDeviationWhereAGroupNeedNotExceedTheMarginEveryOtherTime) {
  // All of three groups with power 0.05 need 0.37 each: the quantile of the magnitudes would be at -0.26.
  EXPECT_NEAR(smallest_visible_change({0.5, 0.0, -0.5}, {.groups = 3, .level = 0.2, .power = 0.05}), 0.01,
              1e-12);
}

TEST(Visibility, GrowsByTheNoiseWhateverItsSign) {
  const double d = std::log(1.02);
  const std::vector<double> faster(30, -d), slower(30, d);
  EXPECT_NEAR(smallest_visible_change(slower), 1.01 * 1.02 - 1, 1e-12);
  EXPECT_DOUBLE_EQ(smallest_visible_change(faster), smallest_visible_change(slower));
  EXPECT_NEAR(spread_of(faster), 0.02, 1e-12);
}

TEST(Visibility, IgnoresASingleWildGroupOfThirtyButNotFive) {
  std::vector<double> deviations(30, 0.0);
  deviations[7] = 1;
  EXPECT_NEAR(smallest_visible_change(deviations), 0.01, 1e-12);
  for (std::size_t i = 0; i < 5; ++i) deviations[i] = 1;
  EXPECT_GT(smallest_visible_change(deviations), 0.5);
}

}  // namespace
}  // namespace assay
