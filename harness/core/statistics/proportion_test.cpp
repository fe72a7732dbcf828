#include "core/statistics/signs.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

// Ends that can be worked out by hand: with no hits of n the upper end solves (1 - p)^n = 0.025, with all
// hits the lower one p^n = 0.025. The middle one is binom.test(8, 10) of R.
TEST(Proportions, HaveTheIntervalOfClopperAndPearson) {
  const Interval none = proportion(0, 50), all = proportion(30, 30), some = proportion(8, 10);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.071122, 1e-5);
  EXPECT_NEAR(all.low, 0.884297, 1e-5);
  EXPECT_EQ(all.high, 1);
  EXPECT_NEAR(some.low, 0.4439045, 1e-5);
  EXPECT_NEAR(some.middle, 0.8, 1e-12);
  EXPECT_NEAR(some.high, 0.9747893, 1e-5);
}

TEST(Proportions, OfNothingSayNothing) {
  EXPECT_EQ(proportion(0, 0).low, 0);
  EXPECT_EQ(proportion(0, 0).high, 1);
}

}  // namespace
}  // namespace assay
