#include "core/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace assay {
namespace {

using Samples = std::vector<double>;

// Golden values: scipy 1.10.1 and numpy 1.24.2, with the call that gave them.

TEST(Quantile, InterpolatesLikeNumpy) {
  const Samples x{3, 1, 4, 1, 5, 9, 2, 6};  // numpy.quantile(x, [0.25, 0.5, 0.9])
  EXPECT_DOUBLE_EQ(quantile(x, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(x, 0.5), 3.5);
  EXPECT_DOUBLE_EQ(quantile(x, 0.9), 6.9);
  EXPECT_DOUBLE_EQ(quantile(x, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(x, 1), 9);
  EXPECT_DOUBLE_EQ(median(Samples{7}), 7);
}

TEST(RobustDeviation, MeasuresFromTheMedianAndNotFromZero) {
  // scipy.stats.median_abs_deviation(x, scale='normal'); some libraries once answered 4.3 before scaling.
  const Samples x{1.1, 2.2, 3.1, 4.3, 5.2};
  EXPECT_NEAR(robust_deviation(x), 1.779122662206722, 1e-14);
  EXPECT_EQ(robust_deviation(Samples{5}), 0);
}

TEST(MedianInterval, SaysWhatCoverageItReached) {
  // 1 - 2 * scipy.stats.binom.cdf(k - 1, n, 0.5) for (n, k) = (3, 1), (5, 1), (6, 1), (9, 2), (20, 6)
  const std::vector<std::tuple<int, int, double>> expected{
      {3, 1, 0.75}, {5, 1, 0.9375}, {6, 1, 0.96875}, {9, 2, 0.9609375}, {20, 6, 0.9586105346679688}};
  for (const auto& [n, k, coverage] : expected) {
    Samples x(static_cast<std::size_t>(n));
    std::iota(x.begin(), x.end(), 1);
    const auto interval = median_interval(x);
    EXPECT_EQ(interval.low, k) << n;
    EXPECT_EQ(interval.high, n + 1 - k) << n;
    EXPECT_DOUBLE_EQ(interval.middle, (n + 1) / 2.0) << n;
    EXPECT_NEAR(interval.coverage, coverage, 1e-12) << n;
  }
}

TEST(MedianInterval, ClaimsNothingForOneSample) {
  const auto interval = median_interval(Samples{4});
  EXPECT_EQ(interval.low, 4);
  EXPECT_EQ(interval.high, 4);
  EXPECT_EQ(interval.coverage, 0);
}

TEST(Centre, MatchesTheSignedRankTest) {
  // n = 10: the 9th of 55 Walsh averages from either end, since the two-sided p of W = 8 is 0.048828125:
  // scipy.stats.wilcoxon([1, 2, 3, 4, 5, 6, 7, -8, 9, 10], mode='exact')
  const Samples x{0.8, 1.1, 1.4, -0.3, 0.6, 2.0, 0.9, 1.7, 0.2, 1.2};
  const auto interval = centre(x);
  EXPECT_NEAR(interval.low, 0.45, 1e-12);
  EXPECT_NEAR(interval.middle, 1.0, 1e-12);
  EXPECT_NEAR(interval.high, 1.45, 1e-12);
  EXPECT_NEAR(interval.coverage, 1 - 0.048828125, 1e-12);
}

TEST(Shift, MatchesTheMannWhitneyTest) {
  // 8 against 8: the 14th of 64 differences from either end; P(U <= 13) = 0.02494172494172494:
  // sum(scipy.stats._mannwhitneyu._mwu_state.pmf(k=numpy.arange(14), m=8, n=8))
  const Samples before{10.1, 9.8, 10.4, 10.0, 9.9, 10.2, 10.3, 9.7};
  const Samples after{10.6, 10.9, 10.5, 11.2, 10.8, 10.7, 11.0, 10.45};
  const auto interval = shift(before, after);
  EXPECT_NEAR(interval.low, 0.4, 1e-12);
  EXPECT_NEAR(interval.middle, 0.7, 1e-12);
  EXPECT_NEAR(interval.high, 1.0, 1e-12);
  EXPECT_NEAR(interval.coverage, 1 - 2 * 0.02494172494172494, 1e-12);
}

TEST(Shift, SaysWhatCoverageFewSamplesReach) {
  // Smallest and largest difference: 1 - 2 / binomial(m + n, m).
  EXPECT_NEAR(shift(Samples{1, 2, 3}, Samples{4, 5, 6}).coverage, 1 - 2 / 20.0, 1e-12);
  EXPECT_NEAR(shift(Samples{1, 2}, Samples{4, 5}).coverage, 1 - 2 / 6.0, 1e-12);
  EXPECT_EQ(shift(Samples{1}, Samples{4}).coverage, 0);
  EXPECT_EQ(shift(Samples{1}, Samples{4}).middle, 3);
}

TEST(Shift, IsExactWhereItCanAffordIt) {
  // P(U <= 594) = 0.024354581945865848 for 40 against 40, as above. With samples 0 … 39 against multiples of
  // 100 all differences are distinct, so the 595th is the last that P allows.
  Samples before, after;
  for (int i = 0; i < 40; ++i) {
    before.push_back(i);
    after.push_back(100.0 * i);
  }
  EXPECT_GE(shift(before, after).coverage, 0.95);
  EXPECT_LT(shift(before, after).coverage, 0.9513);
}

TEST(Shift, IsCloseToExactWhereItApproximates) {
  // The exact interval of 50 against 40 takes the 759th difference:
  // 1 - 2 * sum(scipy.stats._mannwhitneyu._mwu_state.pmf(k=numpy.arange(759), m=50, n=40))
  Samples before(50), after(40);
  std::iota(before.begin(), before.end(), 0);
  for (std::size_t i = 0; i < after.size(); ++i) after[i] = 100.0 * static_cast<double>(i);
  const auto interval = shift(before, after);
  EXPECT_NEAR(interval.coverage, 0.9504545612979295, 0.001);
}

TEST(Exponential, TakesTheBoundsThroughExpAndKeepsTheRest) {
  const Interval ratio = exponential({std::log(0.5), 0, std::log(2.0), 0.9, Basis::slices});
  EXPECT_DOUBLE_EQ(ratio.low, 0.5);
  EXPECT_EQ(ratio.middle, 1);
  EXPECT_DOUBLE_EQ(ratio.high, 2);
  EXPECT_EQ(ratio.coverage, 0.9);
  EXPECT_EQ(ratio.basis, Basis::slices);
}

TEST(RatioOfMedians, HoldsTheRatioAndIsTheSameForTheSameSeed) {
  Samples slow, fast;
  for (int i = 0; i < 40; ++i) {
    fast.push_back(1.0 + 0.01 * (i % 7));
    slow.push_back(2.0 + 0.02 * (i % 7));
  }
  const auto interval = ratio_of_medians(slow, fast, 1);
  EXPECT_DOUBLE_EQ(interval.middle, 2);
  EXPECT_NEAR(interval.low, 2, 1e-9) << "pairs share their luck, which cancels here";
  EXPECT_NEAR(interval.high, 2, 1e-9);
  EXPECT_EQ(interval.basis, Basis::slices);
  slow.pop_back();
  const auto unpaired = ratio_of_medians(slow, fast, 1);
  EXPECT_LT(unpaired.low, 2);
  EXPECT_GT(unpaired.high, 2);
  EXPECT_EQ(ratio_of_medians(slow, fast, 1).low, unpaired.low);
}

TEST(RatioOfMedians, ClaimsNothingForOneSample) {
  EXPECT_EQ(ratio_of_medians(Samples{3}, Samples{2, 2}, 1).coverage, 0);
}

TEST(Student, HasTheTailsOfTheClosedForms) {
  // Cauchy's quartile; 1/2 - t / (2 sqrt(2 + t^2)); 1/2 - (atan(u) + u / (1 + u^2)) / pi with u = t /
  // sqrt(3).
  EXPECT_NEAR(student_tail(1, 1), 0.25, 1e-14);
  EXPECT_NEAR(student_tail(std::sqrt(2.0), 2), 0.5 - std::sqrt(2.0) / 4, 1e-14);
  EXPECT_NEAR(student_tail(std::sqrt(3.0), 3), 0.25 - 0.5 / std::numbers::pi, 1e-14);
  EXPECT_NEAR(student_tail(-1, 1), 0.75, 1e-14);
  EXPECT_NEAR(student_tail(0, 8), 0.5, 1e-14);
}

TEST(Student, HasTheQuantilesOfTheTables) {
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
  EXPECT_NEAR(student_quantile(0.05, 1), 6.314, 5e-4);
  EXPECT_NEAR(student_quantile(0.001, 5), 5.893, 5e-4);
  EXPECT_NEAR(student_quantile(0.025, 10), 2.228, 5e-4);
  EXPECT_NEAR(student_quantile(0.01, 30), 2.457, 5e-4);
  EXPECT_NEAR(student_quantile(0.001, 100), 3.174, 5e-4);
  EXPECT_NEAR(student_quantile(0.5, 7), 0, 1e-6);
}

TEST(Student, IsWiderThanTheNormalDistributionByLittleWithManyDegreesOfFreedom) {
  constexpr double normal = 3.719016;  // exceeded with chance 1e-4
  EXPECT_GT(student_quantile(1e-4, 100000), normal);
  EXPECT_LT(student_quantile(1e-4, 100000), 1.03 * normal);
}

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
