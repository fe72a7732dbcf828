#include "assay/ops/attention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::attention_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

/// d = 1: scores are q_i k_j. q = (0, 1), k = (0, log 3), v = (4, 8): row 0 takes both halves, row 1 a
/// quarter of the first value and three quarters of the second.
Attention::Input two_tokens() { return {numbers({0, 1}), numbers({0, std::log(3.0F)}), numbers({4, 8})}; }

TEST(Attention, MatchesTwoRowsWorkedByHand) {
  Setting setting;
  const auto want = Attention::expect({.heads = 1, .tokens = 2, .d = 1}, two_tokens(), setting);
  EXPECT_THAT(want.value, ElementsAre(DoubleNear(6, 1e-6), DoubleNear(7, 1e-6)));
}

TEST(Attention, SeesNothingOfTheFutureUnderTheCausalMask) {
  Setting setting;
  const auto want = Attention::expect({.heads = 1, .tokens = 2, .d = 1, .mask = 1}, two_tokens(), setting);
  EXPECT_THAT(want.value, ElementsAre(4, DoubleNear(7, 1e-6)));
}

TEST(Attention, IsZeroInARowThatSeesNoKey) {
  Setting setting;
  const Attention::Problem p{.heads = 1, .tokens = 2, .d = 1, .mask = 1, .padding = 1};
  const auto want = Attention::expect(p, two_tokens(), setting);
  EXPECT_THAT(want.value, ElementsAre(0, 8));
  EXPECT_THAT(want.bound.front(), 0);
}

TEST(Attention, DividesScoresByTheRootOfTheWidth) {
  // q . k = 2 log 3 for the second key, over the root of 4.
  const float half = std::log(3.0F);
  Setting setting;
  const auto want =
      Attention::expect({.heads = 1, .tokens = 2, .d = 4},
                        {numbers({0, 0, 0, 0, 1, 1, 0, 0}), numbers({0, 0, 0, 0, half, half, 0, 0}),
                         numbers({4, 0, 0, 0, 8, 0, 0, 0})},
                        setting);
  EXPECT_NEAR(want.value[4], 7, 1e-6);
}

}  // namespace
}  // namespace assay::attention_test
