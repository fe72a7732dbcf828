// The contracts of what a loop does around its kernels, each on numbers worked by hand.

#include "assay/ops/gemm.hpp"
#include "assay/ops/logging.hpp"
#include "assay/ops/training_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace assay::loop_costs_test {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

// x = 2, w = (3, -1): a = 2, 6 and f(-6) = -3. Backward from 5: the slope of the last layer is 1/2, so that
// dw_1 = 5/2 * 6 = 15 and g_1 = 5/2 * -1; then dw_0 = -5/2 * 2 = -5 and dx = -5/2 * 3.
TEST(Checkpointing, MatchesTwoLayersWorkedByHand) {
  Setting setting;
  const auto want =
      Checkpointing::expect({.layers = 2, .n = 1}, {numbers({2}), numbers({3, -1}), numbers({5})}, setting);
  EXPECT_THAT(want.dw.value, ElementsAre(-5, 15));
  EXPECT_THAT(want.dx.value, ElementsAre(-7.5));
}

// Equal tasks leave nothing to gain: a claim of 10 to 20 % is held against this. Of eight
// tasks whose last takes nine times as long, the second half has 12 of 16 shares: 1.5 times an equal one.
TEST(Chunks, LeaveNothingToStealingWithoutSkew) {
  EXPECT_EQ(chunks::static_loss({.n = 8, .grain = 100}, 2), 1);
  EXPECT_EQ(chunks::static_loss({.n = 8, .grain = 100, .skew = 2}, 2), 1.5);
  EXPECT_EQ(chunks::static_loss({.n = 9, .grain = 100}, 2), 10.0 / 9);
}

TEST(ChunksJudge, NamesATaskThatDidNotRun) {
  const Chunks::Problem p{.n = 3, .grain = 5};
  Setting setting;
  const auto in = Chunks::make_input(p, setting);
  auto out = Chunks::make_output(p, in, setting);
  chunks::work(p, in, 0, 2, out);
  const Agreement outcome = Chunks::judge(p, in, Chunks::expect(p, in, setting), out);
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("value[2] was not written"));
}

// Pieces of 1, 2 and 3 numbers, the last of them f64.
TEST(Concatenate, WidensToTheWiderType) {
  const Concatenate::Problem p{.pieces = 3, .n = 1, .types = 1};
  EXPECT_TRUE(p.widens());
  EXPECT_FALSE((Concatenate::Problem{.pieces = 2, .n = 1, .types = 1}).widens());
  EXPECT_EQ(p.numbers(false), 3);
  EXPECT_EQ(p.numbers(true), 3);
  Concatenate::Input in{numbers({1, 2, 3}), Buffer<double>(3)};
  std::ranges::copy(std::array{0.1, 0.2, 0.3}, in.wide.begin());
  Setting setting;
  EXPECT_THAT(Concatenate::expect(p, in, setting).wide.value, ElementsAre(1, 2, 3, 0.1, 0.2, 0.3));
}

std::string text_of(const Logging::Problem& p, const Logging::Input& in) {
  Setting setting;
  return Logging::expect(p, in, setting).text;
}

TEST(Logging, WantsTheLineOfTheBatchThatFails) {
  const Logging::Input in{numbers({0.5, 0.25, -0.125, 1}), nullptr};
  const std::string second = "batch          2 loss  0.250000\n", third = "batch          3 loss -0.125000\n";
  EXPECT_EQ(text_of({.batches = 4, .every = 2, .fails = 3}, in), second + third);
  EXPECT_EQ(text_of({.batches = 3, .every = 2}, in), second + third);
  EXPECT_EQ(text_of({.batches = 3, .every = 2, .fails = 9}, in), second + third);
}

TEST(LoggingJudge, NamesALineThatIsMissing) {
  const Logging::Problem p{.batches = 4, .every = 2, .fails = 3};
  Setting setting;
  const auto in = Logging::make_input(p, setting);
  auto out = Logging::make_output(p, in, setting);
  const auto want = Logging::expect(p, in, setting);
  in.file->clear();
  in.file->append(std::string_view(want.text).substr(0, 32));
  logging::read_back(p, *in.file, out);
  const Agreement outcome = Logging::judge(p, in, want, out);
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("text[1] is missing: 'batch          3"));
}

// The reason why half of the reads are not half of the cost: a second read in the same step finds nothing to
// wait for.
TEST(LossReadbackQueue, HasNothingLeftForASecondRead) {
  const std::array<std::uint64_t, 3> seeds{1, 2, 3};
  loss_readback::Queue queue;
  queue.restart(seeds.data(), 1000);
  loss_readback::State want;
  for (const std::uint64_t seed : seeds) {
    queue.begin(1);
    queue.drain();
    EXPECT_FALSE(queue.drain());
    want = loss_readback::after(want, seed, 1000);
    EXPECT_EQ(queue.state(), want);
  }
}

// Two samples of two rows, one feature and w = 2: products 2, 6 and 20, 40; means 4 and 30.
TEST(SmallProducts, AreCentredPerSample) {
  Setting setting;
  const auto want =
      SmallProducts::expect({.samples = 2, .rows = 2}, {numbers({1, 3, 10, 20}), numbers({2})}, setting);
  EXPECT_THAT(want.value, ElementsAre(DoubleEq(-2), DoubleEq(2), DoubleEq(-10), DoubleEq(10)));
}

// h = 8, then 4 + 8, then 6 + 8.
TEST(StateBuffers, StartFromZeroInEachBatch) {
  Setting setting;
  const auto want =
      StateBuffers::expect({.samples = 2, .batch = 1, .hidden = 1, .steps = 3}, {numbers({8, 4})}, setting);
  EXPECT_THAT(want.value, ElementsAre(14, 7));
}

TEST(StagedCopy, WorksOnWhatWasCopied) {
  Setting setting;
  EXPECT_THAT(StagedCopy::expect({.batches = 2, .n = 1, .rounds = 3}, {numbers({8, 4})}, setting).value,
              ElementsAre(14, 7));
}

TEST(TableCopy, LeavesTheOriginalAsItWas) {
  // Columns (1, 2) and (10, 20), every row: the derived table has (2, 4), (10, 20) and (11, 22).
  Setting setting;
  const auto want = TableCopy::expect({.columns = 2, .rows = 2}, {numbers({1, 2, 10, 20})}, setting);
  EXPECT_THAT(want.original.value, ElementsAre(1, 2, 10, 20));
  EXPECT_THAT(want.read.value, ElementsAre(2, 4, 10, 20, 11, 22));
}

}  // namespace
}  // namespace assay::loop_costs_test
