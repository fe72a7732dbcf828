// Comparisons of files without naive variants: repetitions of foreign programs, as scripted noise with fixed
// seeds.
#include "bench/compare/scripted_results_test.hpp"
#include "bench/compare/words.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

namespace assay {
namespace {

using ::testing::HasSubstr;

/// The logarithm by which a repetition of a row is off.
using Off = std::function<double(std::size_t row, Rng&)>;

double spread(Rng& rng, double deviation) { return deviation * scripted::normal(rng); }
/// One of ten takes up to three times as long.
double with_outliers(std::size_t, Rng& rng) {
  return spread(rng, 0.02) + (rng.unit() < 0.1 ? std::log(rng.uniform(1.2, 3)) : 0);
}
/// A ratio of two normal numbers, cut off at a thousand times: heavy tails on both sides.
double with_heavy_tails(std::size_t, Rng& rng) {
  return std::clamp(0.02 * scripted::normal(rng) / std::abs(scripted::normal(rng)), -7.0, 7.0);
}
/// Times of some rows scatter far more than those of others.
double with_unequal_rows(std::size_t row, Rng& rng) { return spread(rng, row % 3 == 0 ? 0.2 : 0.01); }

Results repetitions(
    std::size_t rows, std::size_t count, Rng& rng, const Off& off,
    const std::function<double(std::size_t)>& factor = [](std::size_t) { return 1.0; }) {
  Results out{.suite = "foreign"};
  for (std::size_t row = 0; row < rows; ++row) {
    TrialResult trial{.key = fmt::format("BM_{}", row), .operation = fmt::format("BM_{}", row)};
    for (std::size_t i = 0; i < count; ++i)
      trial.launches.push_back({{.seconds = 1e-6 * factor(row) * std::exp(off(row, rng))}});
    out.trials.push_back(std::move(trial));
  }
  return out;
}

/// The first row takes 1.3 times as long.
double first_is_slower(std::size_t row) { return row == 0 ? 1.3 : 1; }

std::size_t false_alarms(const Off& off, std::size_t rows, std::size_t tries, std::uint64_t seed) {
  Rng rng(seed);
  std::size_t out = 0;
  for (std::size_t i = 0; i < tries; ++i) {
    const Results before = repetitions(rows, 10, rng, off);
    out += compare(before, repetitions(rows, 10, rng, off), {}).count(Standing::slower) > 0 ? 1U : 0U;
  }
  return out;
}

TEST(ForeignComparison, OfUnchangedCodeIsHardlyEverSlower) {
  std::uint64_t seed = 31;
  for (const Off& off : {Off(with_outliers), Off(with_heavy_tails), Off(with_unequal_rows)}) {
    for (const auto& [rows, tries] : {std::pair{2U, 100U}, {4U, 100U}, {20U, 40U}, {100U, 5U}, {200U, 3U}})
      EXPECT_LE(false_alarms(off, rows, tries, ++seed), tries >= 40 ? 1U : 0U)
          << rows << " rows, seed " << seed;
  }
}

/// Code and pages lie elsewhere in each process, which repetitions in one process do not show.
TEST(ForeignComparison, LooksAtHowFarOtherRowsMovedApart) {
  std::size_t red = 0;
  Rng rng(41);
  for (int i = 0; i < 40; ++i) {
    const auto placed = [&] {
      std::vector<double> of_row;
      for (int row = 0; row < 20; ++row) of_row.push_back(std::exp(spread(rng, 0.03)));
      return repetitions(
          20, 10, rng, [](std::size_t, Rng& r) { return spread(r, 0.005); },
          [&](std::size_t row) { return of_row[row]; });
    };
    const Results before = placed();
    red += compare(before, placed(), {}).count(Standing::slower) > 0 ? 1U : 0U;
  }
  EXPECT_LE(red, 3U);
}

TEST(ForeignComparison, SeesOneOfTenRepetitionsEachThatIsSlowerBeyondDoubt) {
  const Off noisy_others = [](std::size_t row, Rng& rng) { return spread(rng, row == 0 ? 0.02 : 0.2); };
  std::size_t seen = 0, others = 0;
  Rng rng(51);
  for (int i = 0; i < 50; ++i) {
    const Results before = repetitions(8, 10, rng, noisy_others);
    const Comparison found = compare(before, repetitions(8, 10, rng, noisy_others, first_is_slower), {});
    seen += found.rows[0].standing == Standing::slower ? 1U : 0U;
    others += found.count(Standing::slower) - (found.rows[0].standing == Standing::slower ? 1U : 0U);
  }
  EXPECT_GE(seen, 42U);
  EXPECT_EQ(others, 0U);
}

Off steady() {
  return [](std::size_t, Rng& rng) { return spread(rng, 0.005); };
}
/// A comparison of ten repetitions, in which each row takes as many times as long as `factors` says.
Comparison of_factors(const std::vector<double>& factors, std::uint64_t seed) {
  Rng rng(seed);
  const Results before = repetitions(factors.size(), 10, rng, steady());
  return compare(
      before, repetitions(factors.size(), 10, rng, steady(), [&](std::size_t row) { return factors[row]; }),
      {});
}
std::vector<Standing> standings(const Comparison& comparison) {
  std::vector<Standing> out;
  for (const ComparedRow& row : comparison.rows) out.push_back(row.standing);
  return out;
}

TEST(ForeignComparison, IsNeverGreenWhereMostRowsAreSlowerBesideSomeThatStoodStill) {
  constexpr double times = 1.5;
  const Comparison found = of_factors({times, times, times, times, times, times, times, 1, 1, 1, 1, 1}, 81);
  for (std::size_t row = 0; row < 12; ++row) {
    const ComparedRow& one = found.rows[row];
    EXPECT_EQ(one.standing, row < 7 ? Standing::probably_slower : Standing::same) << one.why;
    EXPECT_NEAR(one.ratio.middle, row < 7 ? times : 1, 0.02);
    EXPECT_EQ(one.chance > 0.5, row < 7) << one.chance;
  }
  EXPECT_EQ(outcome_of(found, {.against = Against::base, .measured = 12}, {}).word, Word::decided);
  EXPECT_LT(found.machine_moved, 1.02);
  for (const ComparedRow& one : of_factors({times, times, 1, 1, 1}, 82).rows)
    EXPECT_EQ(one.standing, one.key < "BM_2" ? Standing::slower : Standing::same) << one.key << one.why;
}

TEST(ForeignComparison, CallsARowSlowerByTheLeastThatItMayBe) {
  std::vector<double> factors(12, 0.6);
  factors[0] = 1.1;
  const Comparison found = of_factors(factors, 83);
  EXPECT_EQ(found.rows[0].standing, Standing::slower);
  EXPECT_NEAR(found.rows[0].ratio.middle, 1.1, 0.02) << "not 1.8, if the machine was faster";
  for (std::size_t row = 1; row < 12; ++row) {
    EXPECT_EQ(found.rows[row].standing, Standing::not_slower) << found.rows[row].why;
    EXPECT_NEAR(found.rows[row].ratio.middle, 0.6, 0.01);
  }
  const Comparison all = of_factors(std::vector<double>(12, 1.5), 84);
  EXPECT_EQ(all.count(Standing::undecided), 12U) << "code or machine";
  EXPECT_NEAR(all.rows[0].ratio.middle, 1.5, 0.02);
}

TEST(ForeignComparison, TakesOneOrTwoOthersForWitnessesOfWhatNoDriftExplains) {
  using enum Standing;
  EXPECT_EQ(standings(of_factors({1.3, 1}, 85)), (std::vector{slower, same}));
  EXPECT_EQ(standings(of_factors({1.3, 1, 1}, 86)), (std::vector{slower, same, same}));
  EXPECT_EQ(standings(of_factors({1.15, 1}, 87)), (std::vector{probably_slower, same}));
  EXPECT_EQ(standings(of_factors({1.3, 1.3}, 88)), (std::vector{undecided, undecided}));
  EXPECT_EQ(standings(of_factors({1.3}, 89)), (std::vector{probably_slower}));
}

TEST(ForeignComparison, CallsNothingTheSameWhoseIntervalLeavesTheLimit) {
  Rng rng(61);
  const Off off = [](std::size_t, Rng& r) { return spread(r, 0.2); };
  const Results before = repetitions(6, 10, rng, off);
  const Comparison found = compare(before, repetitions(6, 10, rng, off), {});
  for (const ComparedRow& row : found.rows) {
    EXPECT_DOUBLE_EQ(row.limit, 1.05);
    if (row.standing == Standing::same) {
      EXPECT_GE(row.ratio.low, 1 / row.limit);
      EXPECT_LE(row.ratio.high, row.limit);
    }
  }
  EXPECT_GT(found.count(Standing::undecided), 0U);
}

/// Two benchmarks of one name, read as repetitions of one: nothing lies beyond such a spread.
TEST(ForeignComparison, DecidesNothingOfRowsThatAreNoRepetitionsOfEachOther) {
  Results before{.suite = "foreign"}, after = before;
  before.trials.push_back({.key = "A", .operation = "A"});
  for (const double seconds : {1e-7, 1e-7, 1e-7, 9e-6, 9e-6, 9e-6})
    before.trials[0].launches.push_back({{.seconds = seconds}});
  after.trials = before.trials;
  for (Launch& launch : after.trials[0].launches) launch[0].seconds = 27e-6;
  const ComparedRow row = compare(before, after, {}).rows.at(0);
  EXPECT_NE(row.standing, Standing::slower);
  EXPECT_THAT(row.why, HasSubstr("if they are of one benchmark at all"));
}

TEST(ForeignComparison, TakesTheLimitOfATrialWhereItHasOne) {
  Rng rng(71);
  const Results before = repetitions(6, 10, rng, steady()),
                after = repetitions(6, 10, rng, steady(), first_is_slower);
  EXPECT_EQ(compare(before, after, {}).rows[0].standing, Standing::slower);
  const Comparison found = compare(before, after, {.limits = {{"BM_0", 1.5}, {"BM_1", 1.2}}});
  EXPECT_EQ(found.rows[0].standing, Standing::same);
  EXPECT_DOUBLE_EQ(found.rows[0].limit, 1.5);
  EXPECT_DOUBLE_EQ(found.rows[2].limit, 1.05);
}

}  // namespace
}  // namespace assay
