// Comparisons of files without naive variants: repetitions of foreign programs, as scripted noise with fixed
// seeds.
#include "bench/compare/scripted_results_test.hpp"

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
  EXPECT_EQ(row.standing, Standing::undecided);
  EXPECT_THAT(row.why, HasSubstr("if they are of one benchmark at all"));
}

TEST(ForeignComparison, TakesTheLimitOfATrialWhereItHasOne) {
  Rng rng(71);
  const Off steady = [](std::size_t, Rng& r) { return spread(r, 0.005); };
  const Results before = repetitions(6, 10, rng, steady),
                after = repetitions(6, 10, rng, steady, first_is_slower);
  EXPECT_EQ(compare(before, after, {}).rows[0].standing, Standing::slower);
  const Comparison found = compare(before, after, {.limits = {{"BM_0", 1.5}, {"BM_1", 1.2}}});
  EXPECT_EQ(found.rows[0].standing, Standing::same);
  EXPECT_DOUBLE_EQ(found.rows[0].limit, 1.5);
  EXPECT_DOUBLE_EQ(found.rows[2].limit, 1.05);
}

}  // namespace
}  // namespace assay
