#include "assay/ops/batch_gradient.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::batch_gradient_test {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Op>
Agreement check(void (*kernel)(const typename Op::Problem&, const typename Op::Input&, typename Op::Output&),
                const char* problem) {
  Registry registry;
  registry.add<Op>({.name = "naive", .run = kernel});
  return registry.at(Op::name).open(problem, {.fill = Fill::uniform, .rng = Rng(5)})->check(0, {});
}

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

TEST(GradientAccumulation, WeighsMicroBatchesByTheirSamples) {
  EXPECT_THAT(GradientAccumulation::weights({.batch = 8, .micro = 4}), ElementsAre(0.5, 0.5));
  EXPECT_THAT(GradientAccumulation::weights({.batch = 10, .micro = 4}),
              ElementsAre(DoubleEq(0.4), DoubleEq(0.4), DoubleEq(0.2)));
  EXPECT_THAT(GradientAccumulation::weights({.batch = 3, .micro = 4}), ElementsAre(1));
}

// Samples with gradients 1 to 5 in micro-batches of 2, 2 and 1: means 1.5, 3.5 and 5. The mean of all is 3;
// the mean of the three means would be 10 / 3.
TEST(GradientAccumulation, OfMicroBatchesIsThatOfTheBatch) {
  Setting setting;
  const auto want =
      GradientAccumulation::expect({.n = 1, .batch = 5, .micro = 2}, {numbers({1.5, 3.5, 5})}, setting);
  EXPECT_THAT(want.value, ElementsAre(DoubleEq(3)));
}

TEST(GradientAccumulationJudge, ObjectsToEqualWeightsWhereTheLastIsPartial) {
  const auto faulty = [](const GradientAccumulation::Problem& p, const GradientAccumulation::Input& in,
                         GradientAccumulation::Output& out) {
    const Index count = (p.batch + p.micro - 1) / p.micro;
    for (Index i = 0; i < p.n; ++i) {
      float sum = 0;
      for (Index j = 0; j < count; ++j) sum += in.g[j * p.n + i];
      out.sum[i] = sum / static_cast<float>(count);
    }
  };
  EXPECT_TRUE(check<GradientAccumulation>(faulty, "n=9,batch=8,micro=4").agrees);
  EXPECT_FALSE(check<GradientAccumulation>(faulty, "n=9,batch=10,micro=4").agrees);
}

TEST(GradientAccumulationJudge, ObjectsToALastMicroBatchThatIsDropped) {
  const auto faulty = [](const GradientAccumulation::Problem& p, const GradientAccumulation::Input& in,
                         GradientAccumulation::Output& out) {
    const auto weights = GradientAccumulation::weights(p);
    for (Index i = 0; i < p.n; ++i) {
      float sum = 0;
      for (Index j = 0; (j + 1) * p.micro <= p.batch; ++j) {
        sum += static_cast<float>(weights[static_cast<std::size_t>(j)]) * in.g[j * p.n + i];
      }
      out.sum[i] = sum;
    }
  };
  EXPECT_TRUE(check<GradientAccumulation>(faulty, "n=9,batch=8,micro=4").agrees);
  EXPECT_FALSE(check<GradientAccumulation>(faulty, "n=9,batch=10,micro=4").agrees);
}

// |(3, 4, 12)| = 13; what is kept is 1 / 13.000001.
TEST(GradientClip, ScalesAVectorWorkedByHand) {
  Setting setting;
  const GradientClip::Input in{numbers({3, 4, 12})};
  EXPECT_THAT(GradientClip::expect({.n = 3}, in, setting).norm, DoubleNear(13, 1e-14));
  GradientClip::Output out{numbers({0.23076921F, 0.30769229F, 0.92307687F}), numbers({13})};
  EXPECT_TRUE(GradientClip::judge({.n = 3}, in, {13}, out).agrees);
  out.y[2] = 0.9230770F;  // of 12 / 13 without the 1e-6
  EXPECT_TRUE(GradientClip::judge({.n = 3}, in, {13}, out).agrees) << "1e-6 of 13 is within the rounding";
  out.y[2] = 0.9230775F;
  EXPECT_FALSE(GradientClip::judge({.n = 3}, in, {13}, out).agrees);
}

void clip_with(float norm, const GradientClip::Input& in, GradientClip::Output& out, bool always) {
  const float quotient = 1 / (norm + 1e-6F);
  const float c = always ? quotient : std::min(1.0F, quotient);
  for (Index i = 0; i < out.y.size(); ++i) out.y[i] = c * in.g[i];
  out.norm[0] = norm;
}

float right_norm(const GradientClip::Input& in) {
  return static_cast<float>(std::sqrt(
      std::accumulate(in.g.begin(), in.g.end(), 0.0, [](double sum, double x) { return sum + x * x; })));
}

TEST(GradientClipJudge, ObjectsToScalingSmallGradientsUp) {
  const auto faulty = [](const GradientClip::Problem&, const GradientClip::Input& in,
                         GradientClip::Output& out) { clip_with(right_norm(in), in, out, true); };
  EXPECT_TRUE(check<GradientClip>(faulty, "n=65").agrees);
  EXPECT_FALSE(check<GradientClip>(faulty, "n=65,size=below").agrees);
}

TEST(GradientClipJudge, ObjectsToOneFloatForManySquares) {
  const auto faulty = [](const GradientClip::Problem&, const GradientClip::Input& in,
                         GradientClip::Output& out) {
    float squares = 0;
    for (const float x : in.g) squares += x * x;
    clip_with(std::sqrt(squares), in, out, false);
  };
  EXPECT_TRUE(check<GradientClip>(faulty, "n=65").agrees);
  const Agreement outcome = check<GradientClip>(faulty, "n=1000003");
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("norm["));
}

TEST(GradientClipJudge, ObjectsToANormPerHalf) {
  const auto faulty = [](const GradientClip::Problem& p, const GradientClip::Input& in,
                         GradientClip::Output& out) {
    float squares = 0;
    for (Index i = 0; i < p.n / 2; ++i) squares += in.g[i] * in.g[i];
    clip_with(std::sqrt(squares), in, out, false);
  };
  EXPECT_FALSE(check<GradientClip>(faulty, "n=65").agrees);
}

/// Clips by the factor that `kept(norm)` returns.
template <auto kept, class Sum>
void clip(const GradientClip::Problem& p, const GradientClip::Input& in, GradientClip::Output& out) {
  Sum squares = 0;
  for (const float x : in.g) squares += static_cast<Sum>(x) * static_cast<Sum>(x);
  out.norm[0] = static_cast<float>(std::sqrt(squares));
  const float c = kept(out.norm[0]);
  for (Index i = 0; i < p.n; ++i) out.y[i] = c * in.g[i];
}

TEST(GradientClipJudge, ObjectsToHidingNan) {
  constexpr auto passes_nan_on = [](float norm) {
    const float c = 1 / (norm + 1e-6F);
    return c >= 1 ? 1.0F : c;
  };
  // min(1, NaN) is 1 there.
  constexpr auto hides_nan = [](float norm) { return std::min(1.0F, 1 / (norm + 1e-6F)); };
  for (const char* problem : {"n=37,size=nan", "n=37,size=infinite", "n=37,size=huge", "n=37,size=tiny"}) {
    const Agreement found = check<GradientClip>(clip<passes_nan_on, double>, problem);
    EXPECT_TRUE(found.agrees) << problem << ": " << found.detail;
  }
  EXPECT_TRUE(check<GradientClip>(clip<hides_nan, double>, "n=37").agrees);
  EXPECT_FALSE(check<GradientClip>(clip<hides_nan, double>, "n=37,size=nan").agrees);
}

TEST(GradientClipJudge, ObjectsToSquaresThatOverflow) {
  // Squares up to 1e36, a third of that on average, of which one float holds a thousand.
  constexpr auto usual = [](float norm) { return std::min(1.0F, 1 / (norm + 1e-6F)); };
  EXPECT_TRUE(check<GradientClip>(clip<usual, float>, "n=4099").agrees);
  EXPECT_FALSE(check<GradientClip>(clip<usual, float>, "n=4099,size=huge").agrees);
}

TEST(GradientClipJudge, ObjectsToSubnormalNumbersFlushedToZero) {
  const auto flushing = [](const GradientClip::Problem& p, const GradientClip::Input& in,
                           GradientClip::Output& out) {
    constexpr auto usual = [](float norm) { return std::min(1.0F, 1 / (norm + 1e-6F)); };
    clip<usual, double>(p, in, out);
    for (float& y : out.y) y = std::abs(y) < 1e-37F ? 0 : y;
  };
  EXPECT_TRUE(check<GradientClip>(flushing, "n=37").agrees);
  EXPECT_FALSE(check<GradientClip>(flushing, "n=37,size=tiny").agrees);
}

}  // namespace
}  // namespace assay::batch_gradient_test
