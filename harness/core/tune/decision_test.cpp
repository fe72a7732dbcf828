#include "core/tune/turns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay {
namespace {

TEST(Decisions, NeedAnIntervalBeyondDoubtAndAChangeThatMatters) {
  EXPECT_EQ(decision_on({0.90, 0.95, 0.99}), Decision::retain);
  EXPECT_EQ(decision_on({1.01, 1.05, 1.10}), Decision::reject);
  EXPECT_EQ(decision_on({0.90, 0.95, 1.01}), Decision::no_change) << "1 is among what is possible";
  EXPECT_EQ(decision_on({0.990, 0.992, 0.994}), Decision::no_change) << "surely faster, by less than 1 %";
}

TEST(Decisions, SayWhyTheyAreNone) {
  EXPECT_EQ(reason_for({0.90, 0.95, 1.01}), "1.053x faster [0.990, 1.11]: within the noise");
  EXPECT_EQ(reason_for({0.990, 0.992, 0.994}), "1.008x faster [1.006, 1.010]: too little to matter");
  EXPECT_EQ(reason_for({1.01, 1.05, 1.10}), "1.050x slower [1.010, 1.10]");
}

TEST(Controls, MoveWhenTheyAreOffEitherWay) {
  EXPECT_TRUE(has_moved({1.02, 1.03, 1.04}));
  EXPECT_TRUE(has_moved({0.95, 0.96, 0.97}));
  EXPECT_FALSE(has_moved({1.001, 1.002, 1.003}));
}

TEST(Ratios, AreTheCentreOfTheirLogarithms) {
  const std::vector<double> halves(6, std::log(0.5));
  const Interval ratio = ratio_from(halves);
  EXPECT_NEAR(ratio.middle, 0.5, 1e-12);
  // Six launches that agree in sign: 1 - 2 / 2^6 of a signed-rank interval.
  EXPECT_NEAR(ratio.coverage, 1 - 2.0 / 64, 1e-12);
}

}  // namespace
}  // namespace assay
