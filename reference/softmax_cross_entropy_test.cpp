#include "assay/ops/attention.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::softmax_cross_entropy_test {
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

/// The verdict on rows by definition, on what `kept(x)` leaves of each logit.
template <auto kept>
Agreement check_rows(const char* problem) {
  const auto run = [](const Op::Problem& p, const Op::Input& in, Op::Output& out) {
    for (Index i = 0; i < p.rows; ++i) {
      const auto x = [&](Index j) { return kept(in.x[i * p.cols + j]); };
      float largest = x(0), sum = 0;
      for (Index j = 1; j < p.cols; ++j) largest = std::max(largest, x(j));
      for (Index j = 0; j < p.cols; ++j) sum += std::exp(x(j) - largest);
      out.loss[i] = std::log(sum) - (x(in.label[i]) - largest);
      for (Index j = 0; j < p.cols; ++j) {
        const float share = std::exp(x(j) - largest) / sum;
        out.dx[i * p.cols + j] = (share - (j == in.label[i] ? 1.0F : 0.0F)) / static_cast<float>(p.rows);
      }
    }
  };
  Registry registry;
  registry.add<Op>({.name = "naive", .run = run});
  return registry.at(Op::name).open(problem, {.fill = Fill::uniform, .rng = Rng(5)})->check(0, {});
}

TEST(SoftmaxCrossEntropyJudge, ObjectsToNanThatIsHidden) {
  constexpr auto all = [](float x) { return x; };
  for (const char* problem :
       {"rows=17,cols=33", "rows=17,cols=33,logits=huge", "rows=17,cols=33,logits=special"}) {
    const Agreement found = check_rows<all>(problem);
    EXPECT_TRUE(found.agrees) << problem << ": " << found.detail;
  }
  constexpr auto hides_nan = [](float x) { return x == x ? x : -1e30F; };
  EXPECT_TRUE(check_rows<hides_nan>("rows=17,cols=33").agrees);
  EXPECT_FALSE(check_rows<hides_nan>("rows=17,cols=33,logits=special").agrees);
  constexpr auto clamps = [](float x) { return std::clamp(x, -1e4F, 1e4F); };
  EXPECT_TRUE(check_rows<clamps>("rows=17,cols=33,logits=large").agrees);
  EXPECT_FALSE(check_rows<clamps>("rows=17,cols=33,logits=huge").agrees);
}

}  // namespace
}  // namespace assay::softmax_cross_entropy_test
