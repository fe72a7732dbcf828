#include "assay/ops/gemm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay::mixed_precision_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

MixedPrecision::Input one(float x, float w, float dy) {
  MixedPrecision::Input in{Buffer<float>(1), Buffer<float>(1), Buffer<float>(1)};
  in.x[0] = x;
  in.w[0] = w;
  in.dy[0] = dy;
  return in;
}

TEST(MixedPrecision, MatchesAStepWorkedByHand) {
  Setting setting;
  const auto want = MixedPrecision::expect({}, one(2, 0.5, 4), setting);
  EXPECT_THAT(want.y.value, ElementsAre(1));
  EXPECT_THAT(want.w_next.value, ElementsAre(DoubleNear(0.492, 1e-12)));
}

// 1 - 0.001 is nearer to 1 than to 1 - 2^-8, the bf16 below: kept in bf16, the weight does not move, and a
// thousand such steps leave it where it was.
TEST(MixedPrecision, ObjectsToAnUpdateThatVanishesInBf16) {
  Setting setting;
  const auto in = one(1, 1, 1);
  const auto want = MixedPrecision::expect({}, in, setting);
  MixedPrecision::Output out{Buffer<float>(1), Buffer<float>(1)};
  out.y[0] = 1;
  out.w_next[0] = 0.999F;
  EXPECT_TRUE(MixedPrecision::judge({}, in, want, out).agrees);
  out.w_next[0] = bf16::widen(bf16::round(0.999F));
  EXPECT_EQ(out.w_next[0], 1);
  EXPECT_FALSE(MixedPrecision::judge({}, in, want, out).agrees);
}

// Products of bf16 and of f32 are then the same numbers, and one bound serves both.
TEST(MixedPrecision, HasInputsThatBf16Holds) {
  Setting setting{.fill = Fill::uniform, .rng = Rng(3)};
  const MixedPrecision::Problem p{.m = 5, .n = 7, .k = 3};
  auto in = MixedPrecision::make_input(p, setting);
  MixedPrecision::salt(p, in, "x", 4, in.x[4], setting);
  for (const auto* part : {&in.x, &in.w, &in.dy}) {
    for (const float x : *part) EXPECT_EQ(bf16::widen(bf16::round(x)), x);
  }
}

}  // namespace
}  // namespace assay::mixed_precision_test
