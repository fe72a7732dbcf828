#include "training/epoch/spread.hpp"

#include "assay/random.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

namespace assay {
namespace {

using ::testing::SizeIs;

std::vector<Group> singles(const std::vector<double>& seconds) { return grouped(seconds); }

TEST(Groups, AreSingleStepsWhereThereAreFewerThanForty) {
  EXPECT_THAT(grouped(std::vector<double>(39, 1.0)), SizeIs(39));
  EXPECT_THAT(grouped(std::vector<double>(40, 1.0)), SizeIs(20));
}

// 45 / 2 = 22 groups of two; the last has the step that is left over.
TEST(Groups, HoldEveryStepOnce) {
  std::vector<double> seconds(45);
  std::iota(seconds.begin(), seconds.end(), 0.0);
  const std::vector<Group> groups = grouped(seconds);
  ASSERT_THAT(groups, SizeIs(22));
  EXPECT_EQ(groups[0].mean, 0.5);
  EXPECT_EQ(groups[21].steps, 3);
  EXPECT_EQ(groups[21].mean, 43);
}

// Mean 2, variance ((1 - 2)^2 + 0 + (3 - 2)^2) / 2 = 1.
TEST(Spread, IsThatOfSingleSteps) {
  const Spread spread = spread_of(singles({1, 2, 3}));
  EXPECT_EQ(spread.mean, 2);
  EXPECT_EQ(spread.variance, 1);
  EXPECT_EQ(spread.freedom, 2);
}

// Groups of 2 and 6 steps with means 1 and 2: mean 14 / 8, variance 2 * 0.75^2 + 6 * 0.25^2 = 1.5.
TEST(Spread, WeighsGroupsByTheirSteps) {
  const std::vector<Group> groups{{2, 1}, {6, 2}};
  EXPECT_EQ(spread_of(groups).mean, 1.75);
  EXPECT_EQ(spread_of(groups).variance, 1.5);
}

// Student's 95 % quantile with two degrees of freedom is 2.92; 2.92 sqrt(1 * (6^2 / 3 + 6)) = 12.389.
TEST(Spread, PredictsTheSumOfFurtherSteps) {
  const Interval sum = sum_of_steps(spread_of(singles({1, 2, 3})), 6);
  EXPECT_EQ(sum.middle, 12);
  EXPECT_NEAR(sum.high - 12, 2.919986 * std::sqrt(18), 1e-5);
  EXPECT_NEAR(sum.low, 12 * 12 / sum.high, 1e-9) << "times are above 0, and as many times shorter";
  EXPECT_EQ(sum.coverage, predicted_coverage);
}

TEST(Spread, OfOneGroupGivesNoInterval) {
  const Interval sum = sum_of_steps(spread_of(singles({2})), 6);
  EXPECT_EQ(sum.middle, 12);
  EXPECT_EQ(sum.coverage, 0);
}

// Around 2: -1 -1 -1 1 1 1, products of neighbours 1 1 -1 1 1, by six squares.
TEST(Persistence, IsTheCorrelationOfNeighbours) {
  EXPECT_NEAR(persistence_of(singles({1, 1, 1, 3, 3, 3})), 0.5, 1e-12);
  EXPECT_EQ(persistence_of(singles({1, 3, 1, 3, 1, 3})), 0) << "to and fro is no persistence";
  EXPECT_EQ(persistence_of(singles({2, 2, 2, 2, 2, 2})), 0);
  EXPECT_EQ(persistence_of(singles({1, 1, 3, 3})), 0) << "too few to tell";
}

TEST(Change, IsFoundWhereTheMeanMoves) {
  const auto change = change_in(singles({1.0, 1.01, 0.99, 1.0, 1.2, 1.21, 1.19, 1.2}));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->step, 4);
  EXPECT_NEAR(change->before, 1.0, 1e-12);
  EXPECT_NEAR(change->after, 1.2, 1e-12);
  EXPECT_LT(change->chance, 0.001);
}

TEST(Change, IsNotFoundInNoise) {
  EXPECT_FALSE(change_in(singles({1.0, 1.02, 0.98, 1.01, 0.99, 1.02, 0.98, 1.0})));
  EXPECT_FALSE(change_in(std::vector<Group>(30, Group{10, 1.0})));
}

TEST(Change, OfLessThanOnePercentIsNone) {
  EXPECT_FALSE(change_in(singles({1, 1, 1, 1, 1.009, 1.009, 1.009, 1.009})));
  EXPECT_TRUE(change_in(singles({1, 1, 1, 1, 1.011, 1.011, 1.011, 1.011})));
}

TEST(Change, NeedsFourGroups) { EXPECT_FALSE(change_in(singles({1, 1, 2}))); }

// Six ProfilerSteps of ResNet-50 on a V100, in ms, of a loader whose page cache was warming (pytorch/kineto,
// tb_plugin/samples). Before the last one: mean 176.943, variance 28.31 / 4; t = 12.682 / (2.6604 sqrt(6 /
// 5)) = 4.35 with 4 degrees of freedom, a two-sided chance of 0.012, times five places.
TEST(Change, IsSeenInTheLastStepOfAWarmingWindow) {
  const auto change = change_in(singles({176.078, 173.992, 176.918, 181.259, 176.468, 164.261}));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->step, 5);
  EXPECT_NEAR(change->chance, 0.061, 0.002);
}

// Mean 174.83 then 152.96.
TEST(Change, IsSeenBetweenTwoWindows) {
  const auto change = change_between(singles({176.078, 173.992, 176.918, 181.259, 176.468, 164.261}),
                                     singles({159.363, 149.046, 148.659, 151.733, 153.205, 155.725}));
  ASSERT_TRUE(change);
  EXPECT_LT(change->chance, 0.001);
  EXPECT_FALSE(change_between(singles({1.0, 1.1, 0.9}), singles({1.05, 0.95, 1.06})));
}

// Nine steady windows beside the two: nothing is told of the tenth pair that chance would not tell of one.
TEST(Change, BetweenWindowsCountsHowManyAreCompared) {
  const auto before = singles({1.00, 1.02, 0.98, 1.01}), after = singles({1.03, 1.06, 1.02, 1.05});
  const auto one = change_between(before, after);
  ASSERT_TRUE(one);
  ASSERT_GT(one->chance, 0.01);
  EXPECT_FALSE(change_between(before, after, 10));
  EXPECT_NEAR(change_between(before, after, 2)->chance, 2 * one->chance, 1e-12);
}

// Single means have no spread to test by: 1.5 % is the limit.
TEST(Change, BetweenTwoMeansIsJudgedBySize) {
  EXPECT_FALSE(change_between(std::vector<Group>{{100, 1}}, std::vector<Group>{{100, 1.014}}));
  EXPECT_TRUE(change_between(std::vector<Group>{{100, 1}}, std::vector<Group>{{100, 1.016}}));
}

/// Times around 1 s that vary by 5 %, as the sum of twelve uniform numbers.
std::vector<double> noise(Rng& random, std::size_t count) {
  std::vector<double> out(count, 0.7);
  for (double& one : out) {
    for (int i = 0; i < 12; ++i) one += 0.05 * random.unit();
  }
  return out;
}

// The share of hits in 1,000 has a standard deviation of 1 %.
TEST(Spread, PredictsFurtherStepsAsOftenAsItSays) {
  for (const std::size_t measured : {6U, 30U, 200U}) {
    Rng random(measured);
    int held = 0;
    for (int i = 0; i < 1000; ++i) {
      const Interval interval = sum_of_steps(spread_of(grouped(noise(random, measured))), 300);
      const std::vector<double> later = noise(random, 300);
      const double sum = std::accumulate(later.begin(), later.end(), 0.0);
      held += interval.low <= sum && sum <= interval.high ? 1 : 0;
    }
    EXPECT_NEAR(held, 900, 40) << measured << " steps";
  }
}

TEST(Change, IsToldOfNoiseInAtMostTenPercent) {
  for (const std::size_t measured : {6U, 30U, 200U}) {
    Rng random(measured);
    int told = 0;
    for (int i = 0; i < 1000; ++i) told += change_in(grouped(noise(random, measured))) ? 1 : 0;
    EXPECT_LT(told, 130) << measured << " steps";
  }
}

}  // namespace
}  // namespace assay
