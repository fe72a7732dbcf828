// The search for a break-even over curves that are made up: no clock is involved.
#include "bench/tune/threshold.hpp"

#include "assay/random.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

using Curve = std::function<double(Index)>;

constexpr Index thousand = 1000, million = 1'000'000;

MeasuredSize around(double ratio, double half_width = 0.02) {
  return {.ratio = {ratio * (1 - half_width), ratio, ratio * (1 + half_width), 0.95}};
}

bool never() { return false; }

/// 146 sizes, 1000 * 10^(6 i / 145): a million lies between the sizes 72 and 73, 953,000 and 1,049,000.
const std::vector<Index>& grid() {
  static const std::vector<Index> sizes = geometric_sizes(thousand, 1'000'000'000, 1.1);
  return sizes;
}

Threshold searched(const Curve& curve) {
  return find_threshold(
      grid(), [&](Index size) { return around(curve(size)); }, never);
}

/// The largest size of the grid below, or the smallest from there on.
Index last_below(Index size) { return *std::prev(std::ranges::lower_bound(grid(), size)); }
Index first_from(Index size) { return *std::ranges::lower_bound(grid(), size); }

TEST(Sizes, AreAGeometricGridThatHoldsBothEndsAndEachNumberOnce) {
  // Three steps of 10^(1/3): 2.15 and 4.64.
  EXPECT_THAT(geometric_sizes(1, 10, 2), ElementsAre(1, 2, 5, 10));
  EXPECT_THAT(geometric_sizes(1, 4, 1.1), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(geometric_sizes(7, 8, 10), ElementsAre(7, 8));
}

TEST(Thresholds, LieBetweenNeighboursOfTheGridWhereNoSizeIsATie) {
  const Threshold found = searched([](Index size) { return size < million ? 0.5 : 2; });
  EXPECT_EQ(found.outcome, ThresholdOutcome::found);
  EXPECT_EQ(found.low, last_below(million));
  EXPECT_EQ(found.high, first_from(million));
  EXPECT_EQ(found.constant(), found.high);
  EXPECT_THAT(found.outer_ties(), IsEmpty());
  // Two ends, log2(145) halvings, three on either side.
  EXPECT_THAT(found.sizes, SizeIs(Le(16U)));
}

TEST(Thresholds, HoldAllTiesBetweenTheTwoWays) {
  const Threshold found = searched([](Index size) {
    return size < 100 * thousand ? 0.5 : size < million ? 1.0 : 2;
  });
  EXPECT_EQ(found.outcome, ThresholdOutcome::found);
  EXPECT_EQ(found.low, last_below(100 * thousand));
  EXPECT_EQ(found.high, first_from(million));
}

TEST(Thresholds, OfACurveThatCrossesSlowlyAreAsWideAsItsIntervals) {
  // (size / million)^0.1 is within 2 % of 1 from 820,000 to 1,224,000.
  const Threshold found = searched(
      [](Index size) { return std::pow(static_cast<double>(size) / static_cast<double>(million), 0.1); });
  EXPECT_EQ(found.outcome, ThresholdOutcome::found);
  EXPECT_LT(found.low, 830 * thousand);
  EXPECT_GT(found.low, 700 * thousand);
  EXPECT_GT(found.high, 1210 * thousand);
  EXPECT_LT(found.high, 1400 * thousand);
}

TEST(Thresholds, EncloseTheTrueOneOfANoisyCurve) {
  constexpr double deviation = 0.01;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng(seed);
    const auto measure = [&](Index size) {
      double normal = -6;  // the sum of twelve uniform numbers has a deviation of 1
      for (int i = 0; i < 12; ++i) normal += rng.unit();
      const double log =
          0.5 * std::log(static_cast<double>(size) / static_cast<double>(million)) + deviation * normal;
      return MeasuredSize{
          .ratio = {std::exp(log - 1.96 * deviation), std::exp(log), std::exp(log + 1.96 * deviation), 0.95}};
    };
    const Threshold found = find_threshold(grid(), measure, never);
    ASSERT_EQ(found.outcome, ThresholdOutcome::found) << seed;
    EXPECT_LT(found.low, million) << seed;
    EXPECT_GT(found.high, million) << seed;
    EXPECT_GT(found.low, 800 * thousand) << seed;
    EXPECT_LT(found.high, 1250 * thousand) << seed;
  }
}

TEST(Thresholds, AreFoundWhereTheFirstWayIsNowhereSurelyFaster) {
  const Threshold found = searched([](Index size) { return size < 50 * thousand ? 1 : 2; });
  EXPECT_EQ(found.outcome, ThresholdOutcome::found);
  EXPECT_FALSE(found.low.has_value());
  EXPECT_EQ(found.constant(), first_from(50 * thousand));
}

TEST(Thresholds, AreFoundWhereTheLargestSizesAreTiesAgainAndTheseAreNamed) {
  const Threshold found = searched([](Index size) {
    return size < 50 * thousand ? 0.5 : size < 500 * million ? 2 : 1;
  });
  EXPECT_EQ(found.outcome, ThresholdOutcome::found);
  EXPECT_EQ(found.constant(), first_from(50 * thousand));
  EXPECT_THAT(found.outer_ties(), ElementsAre(1000 * million));
}

TEST(Thresholds, HaveNoConstantWhereOneWayIsFasterEverywhere) {
  const Threshold everywhere = searched([](Index) { return 2; });
  EXPECT_EQ(everywhere.outcome, ThresholdOutcome::everywhere);
  EXPECT_FALSE(everywhere.constant().has_value());
  EXPECT_EQ(everywhere.high, thousand);
  EXPECT_THAT(everywhere.sizes, SizeIs(5)) << "both ends and three between";
  const Threshold nowhere = searched([](Index) { return 0.5; });
  EXPECT_EQ(nowhere.outcome, ThresholdOutcome::nowhere);
  EXPECT_FALSE(nowhere.constant().has_value());
  EXPECT_EQ(nowhere.low, 1000 * million);
}

TEST(Thresholds, HaveNoConstantWhereEverySizeIsATie) {
  const Threshold out = searched([](Index) { return 1.01; });
  EXPECT_EQ(out.outcome, ThresholdOutcome::undecided);
  EXPECT_FALSE(out.constant().has_value());
}

TEST(Thresholds, HaveNoConstantWhereTheSecondWayIsFasterAtSmallSizes) {
  const Threshold out = searched([](Index size) { return size < million ? 2 : 0.5; });
  EXPECT_EQ(out.outcome, ThresholdOutcome::reversed);
  EXPECT_FALSE(out.constant().has_value());
}

TEST(Thresholds, HaveNoConstantWhereTheCurveComesBack) {
  const Threshold out =
      searched([](Index size) { return size < 100 * thousand || size > 10 * million ? 0.5 : 2; });
  EXPECT_EQ(out.outcome, ThresholdOutcome::not_monotone);
  EXPECT_FALSE(out.constant().has_value());
}

TEST(Thresholds, AreDoubtedByTheSizesMeasuredOutsideTheGap) {
  // Bisection ends at a million; of the three sizes measured below that, 31,000 lies on the hump.
  const Threshold out = searched(
      [](Index size) { return size > million || (size > 20 * thousand && size < 60 * thousand) ? 2 : 0.5; });
  EXPECT_EQ(out.outcome, ThresholdOutcome::not_monotone);
}

TEST(Thresholds, SurviveASizeThatErredOnceAndCallItATie) {
  std::map<Index, int> asked;
  const Index erring = grid()[36];  // one of those measured in the end
  const auto measure = [&](Index size) {
    const bool errs = size == erring && ++asked[size] == 1;
    return around(errs || size > million ? 2 : 0.5);
  };
  const Threshold found = find_threshold(grid(), measure, never);
  EXPECT_EQ(found.outcome, ThresholdOutcome::found);
  EXPECT_EQ(found.constant(), first_from(million));
  EXPECT_THAT(found.outer_ties(), ElementsAre(erring));
  EXPECT_EQ(asked[erring], 2);
}

TEST(Thresholds, NeedNoSizeMoreThanTwice) {
  std::map<Index, int> asked;
  Rng rng(7);
  const auto measure = [&](Index size) {
    ++asked[size];
    return around(rng.unit() < 0.5 ? 0.5 : 2);
  };
  find_threshold(grid(), measure, never);
  for (const auto& [size, times] : asked) EXPECT_LE(times, 2) << size;
}

TEST(Thresholds, OfASearchThatWasStoppedAreNone) {
  int asked = 0;
  const auto measure = [&](Index size) {
    ++asked;
    return around(size < million ? 0.5 : 2);
  };
  const Threshold out = find_threshold(grid(), measure, [&] { return asked == 3; });
  EXPECT_EQ(out.outcome, ThresholdOutcome::stopped);
  EXPECT_EQ(asked, 3);
  EXPECT_THAT(out.sizes, SizeIs(2)) << "the answer during which it was stopped does not count";
  EXPECT_FALSE(out.constant().has_value());
}

}  // namespace
}  // namespace assay
