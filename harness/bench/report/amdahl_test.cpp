#include "assay/epoch.hpp"

#include "bench/report/hand_made_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace assay {
namespace {

using hand_made::micro;
using hand_made::network;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Composition composed(const Results& results) { return composition(results, predict(results)); }

/// simd takes 5 µs instead of 12.5, half of naive.
Results network_with_two_fast_operations() {
  Results out = network();
  for (Launch& launch : out.trials[3].launches) launch.front().seconds = 5 * micro;
  return out;
}

/// Returns the middle of ratio_of_pairs() for three ratios in order: half way, by logarithms, between the
/// middle ratio and the middle of the others.
double centre_of(double low, double middle, double high) { return std::sqrt(middle * std::sqrt(low * high)); }

// Naive steps are 3 * {100, 102, 104} + 2 * 10 = {320, 326, 332} µs, those with packed {170, 173, 176} µs.
TEST(Amdahl, WeighsTheSpeedUpOfAnOperationWithItsShare) {
  const Composition found = composed(network());

  ASSERT_THAT(found.effects, SizeIs(2));
  const OperationEffect& gemm = found.effects[0];
  EXPECT_EQ(gemm.operation, "gemm");
  EXPECT_NEAR(gemm.share, 100 * (300.0 / 320 + 306.0 / 326 + 312.0 / 332) / 3, 1e-9);
  EXPECT_NEAR(gemm.speedup.middle, 2, 1e-9);
  EXPECT_NEAR(gemm.epoch.middle, 326.0 / 173, 1e-4);
  EXPECT_LE(gemm.epoch.low, gemm.epoch.middle);
  EXPECT_GE(gemm.epoch.high, gemm.epoch.middle);
  EXPECT_NEAR(gemm.limit, centre_of(320.0 / 20, 326.0 / 20, 332.0 / 20), 1e-9);
  EXPECT_NEAR(gemm.share_left, 100 * (150.0 / 170 + 153.0 / 173 + 156.0 / 176) / 3, 1e-9);
  EXPECT_NEAR(gemm.limit_left, centre_of(170.0 / 20, 173.0 / 20, 176.0 / 20), 1e-9);
}

TEST(Amdahl, GivesNothingToAnOperationWhoseFastestVariantIsNaive) {
  const OperationEffect add = composed(network()).effects.at(1);

  EXPECT_EQ(add.operation, "elementwise_add");
  EXPECT_NEAR(add.speedup.middle, 1, 1e-12);
  EXPECT_NEAR(add.epoch.middle, 1, 1e-12);
  EXPECT_NEAR(add.limit, centre_of(332.0 / 312, 326.0 / 306, 320.0 / 300), 1e-9);
}

// Twice as fast each: 326 / 163 together, though the effects one by one are 326 / 173 and 326 / 316, whose
// product is 1.94.
TEST(Amdahl, ComposesEffectsInsteadOfMultiplyingThem) {
  const Composition found = composed(network_with_two_fast_operations());

  EXPECT_NEAR(found.together.middle, 2, 1e-9);
  EXPECT_NEAR(found.effects[0].epoch.middle, 326.0 / 173, 1e-4);
  EXPECT_NEAR(found.effects[1].epoch.middle, 326.0 / 316, 1e-4);
}

// One launch had a slow gemm and another a slow addition: the medians of both say less of gemm than any
// launch did.
TEST(Amdahl, SetsNoLimitBelowTheEffect) {
  Results results = network();
  const auto takes = [&](std::size_t trial, const std::array<double, 3>& microseconds) {
    for (std::size_t i = 0; i < 3; ++i)
      results.trials[trial].launches[i].front().seconds = microseconds[i] * micro;
  };
  takes(0, {1000, 100, 100});
  takes(1, {500, 50, 50});
  takes(2, {10, 1000, 10});
  takes(3, {10, 1000, 10});

  const Composition found = composed(results);

  EXPECT_GT(found.effects[0].epoch.middle, 1.3);
  double shares = 0;
  for (const OperationEffect& one : found.effects) {
    EXPECT_LE(one.epoch.middle, one.limit) << one.operation;
    shares += one.share;
  }
  EXPECT_NEAR(shares, 100, 1e-9);
}

TEST(Amdahl, SetsNoLimitWhereThereIsOneOperation) {
  Results results = network();
  results.trials.resize(2);

  const Composition found = composed(results);

  ASSERT_THAT(found.effects, SizeIs(1));
  EXPECT_TRUE(std::isinf(found.effects[0].limit));
  EXPECT_NEAR(found.together.middle, 2, 1e-9);
}

TEST(Amdahl, HasNoIntervalWhereACaseIsMissingFromALaunch) {
  Results results = network();
  results.trials[2].launches[1].clear();

  const Composition found = composed(results);

  EXPECT_EQ(found.together.coverage, 0);
  EXPECT_NEAR(found.together.middle, 326.0 / 173, 1e-9);
}

TEST(Amdahl, ComposesNothingFromAnEpochThatCannotBePredicted) {
  Results results = network();
  results.partial = true;

  const Composition found = composed(results);

  EXPECT_THAT(found.impossible, HasSubstr("interrupted"));
  EXPECT_THAT(found.effects, IsEmpty());
}

}  // namespace
}  // namespace assay
