#include "train_step/loss_curve_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace assay::training::loss_curve_test {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LossCurve, IsSmoothedOverAWindow) {
  const std::array<float, 4> losses{3, 1, 2, 4};
  EXPECT_THAT(smoothed(losses, 2), ElementsAre(2, 1.5, 3));
  EXPECT_THAT(smoothed(losses, 5), IsEmpty());
}

TEST(LossCurve, DiffersByTheLargestRelativeDistance) {
  // Means of two: 3, 2 against 3, 2.5. (2.5 - 2) / 2 = 0.25.
  const std::array<float, 3> losses{4, 2, 2}, others{4, 2, 3};
  EXPECT_THAT(largest_difference(losses, others, 2), DoubleEq(0.25));
  EXPECT_THAT(largest_difference(others, losses, 2), DoubleEq(0.25));
  EXPECT_EQ(largest_difference(losses, losses, 2), 0);
}

TEST(LossCurve, IsInfinitelyFarFromOneThatDiverged) {
  const std::array<float, 3> losses{4, 2, 2}, diverged{4, NAN, 2};
  EXPECT_TRUE(std::isinf(largest_difference(losses, diverged, 1)));
  EXPECT_TRUE(std::isinf(largest_difference(diverged, losses, 1)));
  EXPECT_TRUE(std::isinf(largest_difference(losses, std::span(losses).first(2), 1)));
}

}  // namespace
}  // namespace assay::training::loss_curve_test
