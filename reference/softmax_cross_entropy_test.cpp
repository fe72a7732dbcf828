#include "assay/ops/softmax_cross_entropy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

using Op = SoftmaxCrossEntropy;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

Op::Input row(std::initializer_list<float> logits, Index label) {
  Op::Input in{Buffer<float>(static_cast<Index>(logits.size())), Buffer<Index>(1)};
  std::ranges::copy(logits, in.x.begin());
  in.label[0] = label;
  return in;
}

// exp(0) : exp(log 3) = 1 : 3, so that shares are 1/4 and 3/4.
TEST(SoftmaxCrossEntropy, MatchesARowWorkedByHand) {
  Setting setting;
  const auto want = Op::expect({.rows = 1, .cols = 2}, row({0, std::log(3.0F)}, 0), setting);
  EXPECT_THAT(want.loss.value, ElementsAre(DoubleNear(std::log(4), 1e-7)));
  EXPECT_THAT(want.dx.value, ElementsAre(DoubleNear(-0.75, 1e-7), DoubleNear(0.75, 1e-7)));
}

// Each of two classes gets 0.1 of e = 0.2: targets are 0.9 and 0.1.
TEST(SoftmaxCrossEntropy, SmoothsLabels) {
  Setting setting;
  const auto want = Op::expect({.rows = 1, .cols = 2, .smoothing = 20}, row({0, std::log(3.0F)}, 0), setting);
  EXPECT_THAT(want.loss.value, ElementsAre(DoubleNear(0.9 * std::log(4) - 0.1 * std::log(0.75), 1e-7)));
  EXPECT_THAT(want.dx.value, ElementsAre(DoubleNear(-0.65, 1e-7), DoubleNear(0.65, 1e-7)));
}

TEST(SoftmaxCrossEntropy, IsFiniteForLargeLogits) {
  Setting setting;
  const auto want = Op::expect({.rows = 1, .cols = 2, .logits = 1}, row({1000, 0}, 1), setting);
  EXPECT_THAT(want.loss.value, ElementsAre(1000));
  EXPECT_THAT(want.dx.value, ElementsAre(1, -1));
}

// Against difference quotients of the mean loss in double.
TEST(SoftmaxCrossEntropy, HasTheGradientOfItsMeanLoss) {
  const Op::Problem p{.rows = 3, .cols = 5, .smoothing = 10};
  Setting setting{.fill = Fill::uniform, .rng = Rng(7)};
  auto in = Op::make_input(p, setting);
  const auto want = Op::expect(p, in, setting);
  const auto mean_loss = [&] {
    double sum = 0;
    for (const double loss : Op::expect(p, in, setting).loss.value) sum += loss;
    return sum / 3;
  };
  for (Index at = 0; at < in.x.size(); ++at) {
    const float before = in.x[at];
    in.x[at] = before + 0x1p-8F;
    const double above = mean_loss(), x_above = in.x[at];
    in.x[at] = before - 0x1p-8F;
    const double below = mean_loss(), x_below = in.x[at];
    in.x[at] = before;
    EXPECT_NEAR(want.dx.value[static_cast<std::size_t>(at)], (above - below) / (x_above - x_below), 1e-5)
        << at;
  }
}

}  // namespace
}  // namespace assay
