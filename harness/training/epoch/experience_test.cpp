#include "training/epoch/forecast.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace assay {
namespace {

TEST(Experiences, TellHowFarAnEpochLiesBeyondTheNearerEnd) {
  const Interval predicted{0.9, 1, 1.2, 0.9};
  EXPECT_NEAR(beyond(predicted, 0.81), std::log(1 / 0.9), 1e-12);
  EXPECT_NEAR(beyond(predicted, 1.32), std::log(1.1), 1e-12);
  EXPECT_NEAR(beyond(predicted, 1.1), std::log(1.1 / 1.2), 1e-12) << "inside, and nearer to the upper end";
  EXPECT_NEAR(beyond({-0.5, 1, 1.2, 0.9}, 0.1), std::log(0.1 / 1.2), 1e-12) << "nothing is below such an end";
}

TEST(Experiences, OfNineEpochsWidenByTheFarthest) {
  const Interval predicted{0.9, 1, 1.2, 0.9};
  std::vector<double> earlier(8, 0.0);
  earlier[3] = std::log(1.5);
  EXPECT_EQ(experience(predicted, earlier).seconds.coverage, 0);
  EXPECT_EQ(experience(predicted, earlier).seconds.low, 1) << "no width is claimed";
  earlier.push_back(-0.1);
  const Experience nine = experience(predicted, earlier);
  EXPECT_EQ(nine.epochs, 9U);
  EXPECT_EQ(nine.seconds.coverage, 0.9);
  EXPECT_NEAR(nine.seconds.low, 0.6, 1e-12);
  EXPECT_NEAR(nine.seconds.high, 1.8, 1e-12);
  earlier.resize(19, 0.0);
  EXPECT_NEAR(experience(predicted, earlier).seconds.high, 1.2, 1e-12) << "the second farthest of 19";
}

TEST(Experiences, NarrowNoFurtherThanToThePredictionItself) {
  const Experience narrow = experience({0.5, 1, 2, 0.9}, std::vector<double>(20, -1.0));
  EXPECT_EQ(narrow.seconds.low, 1);
  EXPECT_EQ(narrow.seconds.high, 1);
}

TEST(Experiences, LeaveAnEndAloneThatNothingLiesBeyond) {
  const Experience one = experience({-6, 2, 15, 0.9}, std::vector<double>(20, -1.0));
  EXPECT_EQ(one.seconds.low, -6);
  EXPECT_NEAR(one.seconds.high, 15 / std::exp(1), 1e-12);
}

// Intervals made for errors of 2 %, epochs that are off by 10 % (sigma): calibrations hold a quarter of them.
TEST(Experiences, HoldNineOfTenWhereCalibrationsClaimTooMuch) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> error(0.02, 0.1);
  std::vector<double> earlier;
  int held = 0, claimed = 0;
  constexpr int epochs = 2000;
  for (int i = 0; i < epochs; ++i) {
    const Interval predicted{0.967, 1, 1.033, 0.9};
    const double measured = std::exp(error(random));
    const Interval wider = experience(predicted, earlier).seconds;
    if (wider.coverage > 0 && wider.low <= measured && measured <= wider.high) ++held;
    if (predicted.low <= measured && measured <= predicted.high) ++claimed;
    earlier.push_back(beyond(predicted, measured));
  }
  EXPECT_LT(claimed, 0.4 * epochs);
  EXPECT_NEAR(held, 0.9 * epochs, 0.02 * epochs);
}

}  // namespace
}  // namespace assay
