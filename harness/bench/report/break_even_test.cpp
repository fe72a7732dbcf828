#include "bench/report/content.hpp"

#include "bench/report/hand_made_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using hand_made::trial;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// relu of 10, 100 and 1,000 elements. Naive takes 10, 100, 1,000 µs; `simd` 20, 100, 250 µs, each the same
/// in all three launches but the middle one, which is once faster and once slower.
Results three_sizes() {
  Results out{.suite = "tiny"};
  out.trials = {
      trial("relu", "naive", "n=10", {10, 10, 10}),         trial("relu", "simd", "n=10", {20, 20, 20}),
      trial("relu", "naive", "n=1000", {1000, 1000, 1000}), trial("relu", "simd", "n=1000", {250, 250, 250}),
      trial("relu", "naive", "n=100", {100, 100, 100}),     trial("relu", "simd", "n=100", {80, 100, 125})};
  for (std::size_t i = 0; i < out.trials.size(); ++i) {
    const double elements = std::stod(out.trials[i].problem.substr(2));
    out.trials[i].cost = {elements, 4 * elements, 4 * elements};
  }
  return out;
}

TEST(BreakEvenTable, NamesTheSmallestSizeFromWhichOnItIsFaster) {
  const auto rows = break_even(three_sizes());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].operation, "relu");
  EXPECT_EQ(rows[0].trial, "simd");
  EXPECT_EQ(rows[0].rival, "naive");
  EXPECT_EQ(rows[0].points.size(), 3U);
  EXPECT_EQ(rows[0].from, "n=1000");
  EXPECT_EQ(rows[0].from_bytes, 8000);
  EXPECT_THAT(rows[0].slower, ElementsAre("n=10"));
  EXPECT_THAT(rows[0].undecided, ElementsAre("n=100"));
}

TEST(BreakEvenTable, HasNoStartWhereTheLargestSizeIsSlower) {
  Results results = three_sizes();
  for (Launch& launch : results.trials[3].launches) launch[0].seconds *= 10;
  const auto rows = break_even(results);
  EXPECT_EQ(rows.at(0).from, "");
  EXPECT_THAT(rows.at(0).slower, ElementsAre("n=10", "n=1000"));
}

TEST(BreakEvenTable, TellsKindsApartAndDropsThoseOfOneSizeUnlessSlower) {
  Results results = three_sizes();
  results.trials[2].problem = results.trials[3].problem = "n=1000,layout=bordered";
  results.trials[4].problem = results.trials[5].problem = "layout=turned,n=100";
  for (Launch& launch : results.trials[5].launches) launch[0].seconds *= 10;
  const auto rows = break_even(results);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].kind, "");
  EXPECT_THAT(rows[0].slower, ElementsAre("n=10"));
  EXPECT_EQ(rows[1].kind, "layout=turned");
}

TEST(BreakEvenTable, ComparesSeveralThreadsWithOneOfTheSame) {
  Results results = three_sizes();
  for (const std::size_t i : {1U, 3U}) {
    TrialResult two = results.trials[i];
    two.threads = 2;
    for (Launch& launch : two.launches) launch[0].seconds *= i == 1 ? 2 : 0.6;
    results.trials.push_back(two);
  }
  const auto rows = break_even(results);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].trial, "simd#2");
  EXPECT_EQ(rows[1].rival, "simd");
  EXPECT_EQ(rows[1].from, "n=1000");
  EXPECT_THAT(rows[1].slower, ElementsAre("n=10"));
}

TEST(BreakEvenTable, LeavesOutWhatDisagreed) {
  Results results = three_sizes();
  for (const std::size_t i : {1U, 3U, 5U}) results.trials[i].agreement.agrees = false;
  EXPECT_THAT(break_even(results), IsEmpty());
}

}  // namespace
}  // namespace assay
