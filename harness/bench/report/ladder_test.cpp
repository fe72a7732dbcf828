#include "bench/report/content.hpp"
#include "bench/report/hand_made_test.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using hand_made::trial;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// Naive takes 40 µs, reordered 20, packed in its faster tier 5 with one thread; threaded has 2 with two. On
/// the second case reordered is half as fast as naive.
Results three_steps() {
  Results out;
  out.trials = {
      trial("gemm", "naive", "m=1", {40, 40, 40}),    trial("gemm", "reordered", "m=1", {20, 20, 20}),
      trial("gemm", "packed@a", "m=1", {10, 10, 10}), trial("gemm", "packed@b", "m=1", {5, 5, 5}),
      trial("gemm", "threaded", "m=1", {5, 5, 5}),    trial("gemm", "threaded", "m=1", {2, 2, 2}),
      trial("gemm", "naive", "m=2", {10, 10, 10}),    trial("gemm", "reordered", "m=2", {20, 20, 20}),
      trial("lone", "naive", "m=1", {1, 1, 1})};
  out.trials[5].threads = 2;
  out.steps = {{"gemm/threaded", "packed"},
               {"gemm/packed@a", "reordered"},
               {"gemm/packed@b", "reordered"},
               {"gemm/reordered", "naive"}};
  return out;
}

TEST(Ladder, HasWhatEachIdeaGainsOverTheOneBefore) {
  const std::vector<LadderStep> steps = ladder(three_steps());
  ASSERT_THAT(steps, SizeIs(3));
  EXPECT_EQ(steps[0].step, "reordered");
  EXPECT_EQ(steps[0].ratios.size(), 2U);
  EXPECT_NEAR(steps[0].mean, 1, 1e-12) << "twice as fast and half as fast";
  EXPECT_NEAR(steps[0].ratios.front().ratio.middle, 0.5, 1e-12);
  EXPECT_EQ(steps[0].ratios.front().problem, "m=2");
  EXPECT_NEAR(steps[0].ratios.back().ratio.middle, 2, 1e-12);
  EXPECT_EQ(steps[1].step, "packed");
  EXPECT_NEAR(steps[1].mean, 4, 1e-12) << "the fastest tier";
  EXPECT_NEAR(steps[1].in_all, 8, 1e-12);
  EXPECT_EQ(steps[2].step, "threaded");
  EXPECT_EQ(steps[2].threads, 2);
  EXPECT_NEAR(steps[2].mean, 2.5, 1e-12);
}

TEST(Ladder, HasNoStepBesideWhatWasNotMeasured) {
  Results results = three_steps();
  results.trials[1].agreement.agrees = results.trials[7].agreement.agrees = false;  // reordered
  const std::vector<LadderStep> steps = ladder(results);
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].step, "threaded");
}

TEST(Ladder, EndsWhereAFileLeadsInACircle) {
  Results results = three_steps();
  results.steps = {{"gemm/naive", "packed"}, {"gemm/packed@a", "naive"}};
  EXPECT_THAT(ladder(results), SizeIs(1));
  results.steps = {{"gemm/packed@a", "threaded"}, {"gemm/threaded", "packed"}};
  EXPECT_THAT(ladder(results), IsEmpty());
}

TEST(Ladder, StandsInReportsInWords) {
  const Report report = make_report(three_steps(), std::nullopt, std::nullopt, {});
  EXPECT_THAT(to_markdown(report),
              HasSubstr("| `gemm` | `threaded#2` | `packed` | 1 | 2.50x faster | 20.0x faster |"));
  Results without = three_steps();
  without.steps.clear();
  EXPECT_THAT(to_markdown(make_report(without, std::nullopt, std::nullopt, {})),
              Not(HasSubstr("Idea by idea")));
}

}  // namespace
}  // namespace assay
