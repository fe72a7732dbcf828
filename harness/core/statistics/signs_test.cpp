#include "core/statistics/signs.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace assay {
namespace {

// Tails of Pascal's triangle: 8 tosses have 256 outcomes, of which 1, 9, 37 have at least 8, 7, 6 heads.
TEST(SignTest, HasTheTailsOfPascalsTriangle) {
  EXPECT_NEAR(sign_tail(8, 8), 1.0 / 256, 1e-12);
  EXPECT_NEAR(sign_tail(7, 8), 9.0 / 256, 1e-12);
  EXPECT_NEAR(sign_tail(6, 8), 37.0 / 256, 1e-12);
  EXPECT_EQ(sign_tail(0, 8), 1);
  EXPECT_NEAR(sign_tail(135, 135), 0, 1e-12);
}

TEST(SignTest, CountsSamplesBeyondTheLimitAndNotOnIt) {
  const std::vector<double> samples{0.01, 0.02, 0.02, 0.03};
  EXPECT_NEAR(p_above(samples, 0.02), 15.0 / 16, 1e-12);  // one of four lies above
  EXPECT_NEAR(p_above(samples, 0.005), 1.0 / 16, 1e-12);
  EXPECT_NEAR(p_below(samples, 0.02), 15.0 / 16, 1e-12);
  EXPECT_NEAR(p_below(samples, 0.04), 1.0 / 16, 1e-12);
  EXPECT_EQ(p_above({}, 0), 1);
}

TEST(SignTest, NamesTheCountThatALevelTakes) {
  EXPECT_EQ(needed_count(8, 0.05), 7);
  EXPECT_EQ(needed_count(8, 0.01), 8);
  EXPECT_EQ(needed_count(8, 0.001), 9) << "more than there are samples: it cannot be reached";
  EXPECT_EQ(needed_count(20, 0.0207), 15);  // 21,700 of 1,048,576 outcomes have 15 heads or more
}

TEST(SignTest, NamesTheChanceThatAShiftMustReach) {
  // All of 4 samples exceed the limit in 95 of 100 cases when each does with chance 0.95^(1/4).
  EXPECT_NEAR(needed_chance(4, 4, 0.95), 0.98726, 1e-5);
  // The chance to see at least 1 of 2: 1 - (1 - p)^2 = 0.95.
  EXPECT_NEAR(needed_chance(1, 2, 0.95), 1 - 0.2236068, 1e-6);
  EXPECT_EQ(needed_chance(5, 4, 0.95), 1);
}

TEST(Signs, KnowsTheBinomialTail) {
  EXPECT_NEAR(binomial_tail(3, 4, 0.5), 5.0 / 16, 1e-12);  // (4 + 1) of 16 outcomes
  EXPECT_NEAR(binomial_tail(1, 3, 0.2), 1 - 0.8 * 0.8 * 0.8, 1e-12);
  EXPECT_EQ(binomial_tail(0, 3, 0.2), 1);
  EXPECT_EQ(binomial_tail(4, 3, 0.2), 0);
  EXPECT_EQ(binomial_tail(3, 3, 1), 1);
}

TEST(Signs, CountsTheSignsThatATestNeeds) {
  EXPECT_EQ(needed_count(5, 0.05), 5);   // 1 of 32 is 3.1 %, 6 of 32 is 18.8 %
  EXPECT_EQ(needed_count(10, 0.05), 9);  // 11 of 1,024 is 1.1 %, 56 of 1,024 is 5.5 %
  EXPECT_EQ(needed_count(4, 0.05), 5);   // 1 of 16 is 6.3 %: no outcome is enough
}

TEST(Signs, FindsTheProbabilityThatGivesThePower) {
  // All of two groups with power 0.81 need 0.9 each.
  EXPECT_NEAR(needed_chance(2, 2, 0.81), 0.9, 1e-9);
  const double p = needed_chance(26, 30, 0.95);
  EXPECT_NEAR(binomial_tail(26, 30, p), 0.95, 1e-9);
}

}  // namespace
}  // namespace assay
