#include "bench/ledger/ledger.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

ComparedRow row(double log_low, double log_middle, double log_high, double coverage, std::size_t launches) {
  return {.key = "a",
          .standing = Standing::same,
          .ratio = {std::exp(log_low), std::exp(log_middle), std::exp(log_high), coverage},
          .launches = launches};
}

TEST(Drift, IsEstimatedFromLaunchesThatWereTakenWhateverTheyShowed) {
  ComparedRow verdict = row(-0.01, 0, 0.01, 0.95, 30);
  verdict.unselected = row(0.008, 0.01, 0.012, 0.95, 11).ratio;
  verdict.unselected_launches = 11;
  const auto estimate = estimate_of(verdict);
  EXPECT_NEAR(estimate->log_ratio, 0.01, 1e-12);
  EXPECT_EQ(estimate->launches, 11U);
  EXPECT_NEAR(estimate->deviation, 0.002 / 2.228, 1e-6);
}

TEST(EstimateOfARow, TakesItsDeviationFromTheIntervalByTheQuantileOfItsCoverage) {
  // Eleven launches: ten degrees of freedom, whose quantiles are 2.228 for 95 % and 1.812 for 90 %.
  const auto wide = estimate_of(row(-0.01228, 0.01, 0.03228, 0.95, 11));
  ASSERT_TRUE(wide);
  EXPECT_NEAR(wide->log_ratio, 0.01, 1e-12);
  EXPECT_NEAR(wide->deviation, 0.01, 1e-5);
  EXPECT_EQ(wide->launches, 11U);
  EXPECT_NEAR(estimate_of(row(-0.01812, 0, 0.01812, 0.9, 11))->deviation, 0.01, 1e-5);
}

TEST(EstimateOfARow, AddsItsOwnSpreadBetweenRecordings) {
  ComparedRow verdict = row(-0.02228, 0, 0.02228, 0.95, 11);
  verdict.spread = 0.02;
  EXPECT_NEAR(estimate_of(verdict)->deviation, std::sqrt(5.0) * 0.01, 1e-5);
}

TEST(EstimateOfARow, IsExactWhereNothingCanDiffer) {
  const auto same_code = estimate_of(row(0, 0, 0, 1, 0));
  ASSERT_TRUE(same_code);
  EXPECT_EQ(same_code->log_ratio, 0);
  EXPECT_EQ(same_code->deviation, 0);
}

TEST(EstimateOfARow, IsNothingWithoutAnIntervalOverLaunches) {
  EXPECT_FALSE(estimate_of({.key = "gone"}));
  EXPECT_FALSE(estimate_of(row(0, 0, 0, 0, 1))) << "one launch";
  EXPECT_FALSE(estimate_of(row(-0.01, 0, 0.01, 0.5, 1)));
  EXPECT_FALSE(estimate_of(row(-0.01, 0, 0.01, 0.95, 0))) << "nobody said how many launches";
  ComparedRow slices = row(-0.01, 0, 0.01, 0.95, 11);
  slices.ratio.basis = Basis::slices;
  EXPECT_FALSE(estimate_of(slices));
}

TEST(DriftSum, AddsLogarithmsAndVariances) {
  DriftSum sum;
  sum.add({0.01, 0.003, 11});
  sum.add({0.02, 0.004, 11});
  EXPECT_EQ(sum.terms, 2U);
  EXPECT_NEAR(sum.log_ratio, 0.03, 1e-15);
  EXPECT_NEAR(std::sqrt(sum.variance), 0.005, 1e-15);
  // Welch and Satterthwaite: 25^2 / (9^2 / 10 + 16^2 / 10) = 18.5, and 18 degrees of freedom have 2.101.
  EXPECT_NEAR(sum.low(0.025), 0.03 - 2.101 * 0.005, 1e-5);
}

TEST(DriftSum, OfOneRowHasTheIntervalOfThatRow) {
  DriftSum sum;
  sum.add(*estimate_of(row(-0.01, 0.005, 0.02, 0.93, 9)));
  const Interval interval = sum.interval(0.93);
  EXPECT_NEAR(std::log(interval.low), -0.01, 1e-8);
  EXPECT_NEAR(std::log(interval.high), 0.02, 1e-8);
  EXPECT_EQ(interval.coverage, 0.93);
}

TEST(DriftSum, IsAsSureAsItsTermsWhenTheseAreExact) {
  DriftSum sum;
  sum.add({0, 0, 0});
  sum.add({0.01, 0.002, 5});
  DriftSum alone;
  alone.add({0.01, 0.002, 5});
  EXPECT_EQ(sum.low(0.001), alone.low(0.001));
  DriftSum exact;
  exact.add({0.04, 0, 0});
  EXPECT_EQ(exact.low(0.001), 0.04);
}

TEST(DriftSum, LeavesOutStepsThatLackTheRow) {
  const std::vector<Step> steps{{.rows = {{"a", {0.01, 0.001, 9}}}},
                                {.rows = {{"b", {0.5, 0.001, 9}}}},
                                {.rows = {{"a", {0.02, 0.001, 9}}}}};
  const DriftSum sum = sum_of(steps, "a");
  EXPECT_EQ(sum.terms, 2U);
  EXPECT_NEAR(sum.log_ratio, 0.03, 1e-15);
}

}  // namespace
}  // namespace assay
