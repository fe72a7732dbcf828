#include "app/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay {
namespace {

TEST(RemainingTime, IsUnknownBeforeAnythingWasDone) {
  RemainingTime time;
  EXPECT_FALSE(time.left(3));
  time.note(0, 0);
  EXPECT_FALSE(time.left(3));
}

TEST(RemainingTime, IsExactWhereThePaceIsEven) {
  RemainingTime time;
  for (int second = 0; second <= 60; ++second) time.note(second, second / 100.0);
  ASSERT_TRUE(time.left(60));
  EXPECT_NEAR(*time.left(60), 40, 1e-6);
}

TEST(RemainingTime, CountsDownBetweenTwoShares) {
  RemainingTime time;
  time.note(0, 0);
  time.note(10, 0.25);
  EXPECT_NEAR(*time.left(10), 30, 1e-6);
  EXPECT_NEAR(*time.left(17), 23, 1e-6);
}

// Half of the shares take 10 s, and 0.25 more another 20 s: at that pace of the whole the rest takes 10 s.
TEST(RemainingTime, FollowsAPaceThatChanges) {
  RemainingTime time;
  for (int second = 0; second <= 10; ++second) time.note(second, 0.05 * second);
  EXPECT_NEAR(*time.left(10), 10, 1e-6);
  for (int second = 11; second <= 30; ++second) time.note(second, 0.5 + 0.0125 * (second - 10));
  EXPECT_NEAR(*time.left(30), 10, 2);
}

TEST(RemainingTime, DoesNotFollowOneHitch) {
  RemainingTime time;
  for (int second = 0; second <= 50; ++second) time.note(second, second / 100.0);
  time.note(53, 0.51);  // took three seconds instead of one
  EXPECT_NEAR(*time.left(53), 49, 5);
}

// Shares that fall behind for a minute: the end is not at hand all the time.
// 20 steps of 5 s each, of which the shares tell at their ends alone, in five small pieces.
TEST(RemainingTime, DoesNotJumpWhereSharesComeInFits) {
  RemainingTime time;
  double least = 1e9, most = 0;
  for (int tick = 0; tick <= 600; ++tick) {
    const double seconds = tick / 10.0;
    time.note(seconds, 0.05 * (tick / 50) + 0.01 * std::max(0, tick % 50 - 45));
    if (seconds < 20) continue;
    least = std::min(least, seconds + *time.left(seconds));
    most = std::max(most, seconds + *time.left(seconds));
  }
  EXPECT_GT(least, 90);
  EXPECT_LT(most, 125) << "of 100 s";
}

TEST(RemainingTime, GrowsWhereAShareIsOverdue) {
  RemainingTime time;
  time.note(0, 0);
  time.note(10, 0.9);
  double least = 1e9;
  for (int second = 12; second <= 72; ++second) least = std::min(least, *time.left(second));
  EXPECT_GT(least, 0);
  EXPECT_GE(*time.left(72), 15);
}

TEST(RemainingTime, IgnoresSharesThatFallABit) {
  RemainingTime time;
  time.note(0, 0);
  time.note(10, 0.5);
  time.note(11, 0.45);
  EXPECT_NEAR(*time.left(11), 9, 1e-6);
}

TEST(RemainingTime, BeginsAnewWithWorkThatNobodyForesaw) {
  RemainingTime time;
  time.note(0, 0);
  time.note(10, 1);
  time.note(11, 0);
  EXPECT_FALSE(time.left(12));
  time.note(15, 0.5);
  EXPECT_NEAR(*time.left(15), 4, 1e-6);
}

// A check says where it is some thousand times a second.
TEST(RemainingTime, IsExactWhereSharesComeOften) {
  RemainingTime time;
  for (int i = 0; i <= 500000; ++i) time.note(i * 1e-4, i * 1e-6);
  EXPECT_NEAR(*time.left(50), 50, 0.5);
}

TEST(RemainingTime, IsToldNoFinerThanItIsKnown) {
  EXPECT_EQ(remaining_text(0), "about 1 s left");
  EXPECT_EQ(remaining_text(0.2), "about 1 s left");
  EXPECT_EQ(remaining_text(7.3), "about 8 s left");
  EXPECT_EQ(remaining_text(36.5), "about 40 s left");
  EXPECT_EQ(remaining_text(60), "about 60 s left");
  EXPECT_EQ(remaining_text(61), "about 70 s left");
  EXPECT_EQ(remaining_text(121), "about 3 min left");
  EXPECT_EQ(remaining_text(3599), "about 60 min left");
  EXPECT_EQ(remaining_text(3601), "about 1 h 5 min left");
  EXPECT_EQ(remaining_text(7100), "about 2 h 0 min left");
}

}  // namespace
}  // namespace assay
