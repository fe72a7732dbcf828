#include "core/machine/doctor.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

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
