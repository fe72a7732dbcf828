#include "assay/ops/pointwise.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace assay::pointwise_test {
namespace {

using namespace pointwise;
using ::testing::DoubleNear;
using ::testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Formula, std::size_t count>
double value(const std::array<double, count>& in, double alpha = 1, std::size_t output = 0) {
  return Formula::template apply<double>(in, alpha)[output];
}

// The normal distribution: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), table 26.1:
// Phi(1) = 0.84134 47460 68543, Phi(2) = 0.97724 98680 51821, phi(1) = 0.24197 07245 19143; table 26.2:
// Phi(-5) = 2.86652e-7.
TEST(ElementwiseGelu, MatchesTablesOfTheNormalDistribution) {
  EXPECT_THAT(value<Gelu>(std::array{1.0}), DoubleNear(0.841344746068543, 1e-14));
  EXPECT_THAT(value<Gelu>(std::array{-1.0}), DoubleNear(0.841344746068543 - 1, 1e-14));
  EXPECT_THAT(value<Gelu>(std::array{2.0}), DoubleNear(2 * 0.977249868051821, 1e-14));
  EXPECT_THAT(value<Gelu>(std::array{-5.0}), DoubleNear(-5 * 2.86652e-7, 5e-12));
  EXPECT_EQ(value<Gelu>(std::array{0.0}), 0);
}

// tanh(sqrt(2 / pi) 1.044715) = tanh(0.8335625) = (e^1.667125 - 1) / (e^1.667125 + 1), e^1.667125 = 5.296917:
// 4.296917 / 6.296917 = 0.6823842, and (1 + 0.6823842) / 2 = 0.8411921.
TEST(ElementwiseGeluTanh, MatchesNumbersWorkedByHand) {
  EXPECT_THAT(value<GeluTanh>(std::array{1.0}), DoubleNear(0.8411921, 2e-7));
  EXPECT_THAT(value<GeluTanh>(std::array{-1.0}), DoubleNear(0.8411921 - 1, 2e-7));
}

TEST(ElementwiseGeluTanh, IsItsDefinition) {
  for (const double x : {-3.0, -0.75, 1e-3, 0.5, 2.5}) {
    const double t = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    EXPECT_THAT(value<GeluTanh>(std::array{x}), DoubleNear(x / 2 * (1 + std::tanh(t)), 1e-15)) << x;
  }
}

// 1 / (1 + exp(-ln 3)) = 1 / (1 + 1 / 3) = 3 / 4.
TEST(ElementwiseSigmoid, MatchesNumbersWorkedByHand) {
  EXPECT_THAT(value<Sigmoid>(std::array{std::log(3.0)}), DoubleNear(0.75, 1e-15));
  EXPECT_THAT(value<Sigmoid>(std::array{-std::log(3.0)}), DoubleNear(0.25, 1e-15));
  EXPECT_EQ(value<Sigmoid>(std::array{0.0}), 0.5);
}

// Phi(1) + phi(1) = 0.841344746 + 0.241970725; dz y (1 - y) = 2 0.25 0.75; and the others by sight.
TEST(ElementwiseGradients, MatchNumbersWorkedByHand) {
  EXPECT_THAT(value<GeluBackward>(std::array{1.0, 1.0}), DoubleNear(1.083315471, 1e-9));
  EXPECT_THAT(value<GeluBackward>(std::array{-1.0, 2.0}), DoubleNear(2 * (1 - 1.083315471), 2e-9));
  EXPECT_EQ(value<GeluBackward>(std::array{0.0, 1.0}), 0.5);
  EXPECT_EQ(value<GeluTanhBackward>(std::array{0.0, 3.0}), 1.5);
  EXPECT_EQ(value<SigmoidBackward>(std::array{0.25, 2.0}), 0.375);
  EXPECT_EQ(value<ReluBackward>(std::array{0.5, -7.0}), -7);
  EXPECT_EQ(value<ReluBackward>(std::array{0.0, -7.0}), 0);
  EXPECT_EQ(value<ReluBackward>(std::array{-0.5, -7.0}), 0);
  EXPECT_EQ(value<MultiplyBackward>(std::array{2.0, 3.0, 5.0}, -2), -30);
  EXPECT_EQ(value<MultiplyBackward>(std::array{2.0, 3.0, 5.0}, -2, 1), -20);
  EXPECT_EQ(value<AddBackward>(std::array{5.0}, -2), 5);
  EXPECT_EQ(value<AddBackward>(std::array{5.0}, -2, 1), -10);
}

TEST(ElementwiseChains, MatchNumbersWorkedByHand) {
  EXPECT_EQ(value<ChannelBias>(std::array{3.0, 0.5}), 3.5);
  EXPECT_THAT(value<BiasGelu>(std::array{1.5, -0.5}), DoubleNear(0.841344746068543, 1e-14));
  EXPECT_EQ(value<ScaleAddRelu>(std::array{2.0, 5.0}, -3), 0);
  EXPECT_EQ(value<ScaleAddRelu>(std::array{2.0, 5.0}, 3), 11);
  EXPECT_TRUE(std::isnan(value<ScaleAddRelu>(std::array{std::nan(""), 5.0}, 3)));
}

/// The symmetric difference quotient: its error is h^2 f''' / 6 and an ulp of f over h, each about 1e-10
/// here.
template <class F>
double slope(const F& f, double x) {
  constexpr double h = 0x1p-16;
  return (f(x + h) - f(x - h)) / (2 * h);
}

constexpr std::array points{-6.0, -3.1, -1.0, -0.7518, -0.1, 1e-3, 0.4, 1.7, 4.2};

template <class Forward, class Backward>
void expect_gradient() {
  const auto forward = [](double x) { return value<Forward>(std::array{x}); };
  for (const double x : points) {
    EXPECT_THAT(value<Backward>(std::array{x, 1.0}), DoubleNear(slope(forward, x), 1e-9)) << x;
    EXPECT_EQ(value<Backward>(std::array{x, -3.0}), -3 * value<Backward>(std::array{x, 1.0})) << x;
  }
}

TEST(ElementwiseGradients, AreTheSlopesOfTheForwardPass) {
  expect_gradient<Gelu, GeluBackward>();
  expect_gradient<GeluTanh, GeluTanhBackward>();
  const auto sigmoid = [](double x) { return value<Sigmoid>(std::array{x}); };
  for (const double x : points) {
    EXPECT_THAT(value<SigmoidBackward>(std::array{sigmoid(x), 1.0}), DoubleNear(slope(sigmoid, x), 1e-9))
        << x;
    EXPECT_THAT(value<ReluBackward>(std::array{x, 1.0}), DoubleNear(slope(positive_part<double>, x), 1e-9));
    // z = alpha x y and z = x + alpha y, along x and along y.
    const double alpha = -2, other = 0.3;
    const auto product = [&](double t) { return alpha * t * other; };
    EXPECT_THAT(value<MultiplyBackward>(std::array{x, other, 1.0}, alpha),
                DoubleNear(slope(product, x), 1e-9));
    EXPECT_THAT(value<MultiplyBackward>(std::array{other, x, 1.0}, alpha, 1),
                DoubleNear(slope(product, x), 1e-9));
    const auto sum = [&](double t) { return other + alpha * t; };
    EXPECT_THAT(value<AddBackward>(std::array{1.0}, alpha, 1), DoubleNear(slope(sum, x), 1e-9));
  }
}

TEST(ElementwiseActivations, HaveTheirLimitsAtInfinity) {
  EXPECT_EQ(value<Gelu>(std::array{-infinity}), 0);
  EXPECT_EQ(value<Gelu>(std::array{infinity}), infinity);
  EXPECT_EQ(value<GeluTanh>(std::array{-infinity}), 0);
  EXPECT_EQ(value<GeluTanh>(std::array{infinity}), infinity);
  EXPECT_EQ(value<Sigmoid>(std::array{-infinity}), 0);
  EXPECT_EQ(value<Sigmoid>(std::array{infinity}), 1);
  EXPECT_EQ(value<GeluBackward>(std::array{-infinity, 2.0}), 0);
  EXPECT_EQ(value<GeluBackward>(std::array{infinity, 2.0}), 2);
  EXPECT_EQ(value<GeluTanhBackward>(std::array{-infinity, 2.0}), 0);
  EXPECT_EQ(value<GeluTanhBackward>(std::array{infinity, 2.0}), 2);
}

/// A float function of one element in the place of the formula, alone as a variant, on one problem.
template <class Formula, auto function>
Agreement check(const char* problem, Fill fill = Fill::uniform) {
  using Op = Pointwise<Formula>;
  const auto run = [](const typename Op::Problem& p, const typename Op::Input& input,
                      typename Op::Output& out) {
    for (Index i = 0; i < p.size(); ++i) {
      std::array<float, Op::inputs> in;
      for (std::size_t k = 0; k < Op::inputs; ++k) {
        in[k] = input.in[k][Formula::per_channel && k == 1 ? i / p.plane() % p.c : i];
      }
      const auto result = function(in, static_cast<float>(p.alpha));
      for (std::size_t j = 0; j < Op::outputs; ++j) out.at(j)[i] = result[j];
    }
  };
  Registry registry;
  registry.add<Op>({.name = "naive", .run = run});
  return registry.at(Op::name).open(problem, {.fill = fill, .rng = Rng(5)})->check(0, {});
}

using One = std::array<float, 1>;
using Two = std::array<float, 2>;

TEST(ElementwiseGeluJudge, ObjectsToTheTanhForm) {
  constexpr auto tanh_form = [](const One& in, float alpha) { return GeluTanh::apply<float>(in, alpha); };
  EXPECT_FALSE((check<Gelu, tanh_form>("n=17").agrees));
  EXPECT_TRUE((check<GeluTanh, tanh_form>("n=17").agrees));
}

TEST(ElementwiseGeluJudge, ObjectsToTheErfFormWhereTanhIsMeant) {
  constexpr auto erf_form = [](const One& in, float alpha) { return Gelu::apply<float>(in, alpha); };
  EXPECT_FALSE((check<GeluTanh, erf_form>("n=17").agrees));
}

TEST(ElementwiseGeluJudge, ObjectsToTheFormThatCancelsInTheTail) {
  constexpr auto cancelling = [](const One& in, float) {
    return One{0.5F * in[0] * (1 + std::erf(in[0] * std::numbers::sqrt2_v<float> / 2))};
  };
  EXPECT_FALSE((check<Gelu, cancelling>("n=509,values=wide").agrees));
}

TEST(ElementwiseGeluJudge, ObjectsToNanAtMinusInfinity) {
  constexpr auto product = [](const One& in, float) {
    const float x = in[0];
    return One{x * (0.5F * std::erfc(-x * std::numbers::sqrt2_v<float> / 2))};
  };
  EXPECT_TRUE((check<Gelu, product>("n=129").agrees));
  const Agreement outcome = check<Gelu, product>("n=129,values=special");
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("z[15]"));  // the sixth special value is -infinity
}

TEST(ElementwiseGeluJudge, ObjectsToAFormThatHidesNan) {
  constexpr auto clamping = [](const One& in, float alpha) {
    return Gelu::apply<float>({in[0] > -40 ? in[0] : -40.0F}, alpha);
  };
  const Agreement outcome = check<Gelu, clamping>("n=129,values=special");
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("expected nan"));
}

TEST(ElementwiseSigmoidJudge, TakesAnyNan) {
  // IEEE 754 leaves the sign open of a NaN that is computed, and -x has the other one.
  constexpr auto usual = [](const One& in, float) { return One{1 / (1 + std::exp(-in[0]))}; };
  EXPECT_TRUE((check<Sigmoid, usual>("n=129,values=special").agrees));
}

TEST(ElementwiseGeluJudge, ObjectsToANanThatIsNotWritten) {
  using Op = Pointwise<Gelu>;
  Registry registry;
  registry.add<Op>({.name = "naive", .run = [](const Op::Problem& p, const Op::Input& in, Op::Output& out) {
                      for (Index i = 0; i < p.size(); ++i) {
                        const float x = in.in[0][i];
                        if (x == x) out.first[i] = Gelu::apply<float>({x}, 1)[0];
                      }
                    }});
  const auto workload = registry.at(Op::name).open("n=129,values=special", {.rng = Rng(5)});
  EXPECT_FALSE(workload->check(0, {}, Workload::no_rehearsal).agrees);
}

TEST(ElementwiseGeluJudge, ObjectsToAGradientWithoutTheSecondTerm) {
  constexpr auto gate = [](const Two& in, float) { return One{in[1] * (1 - normal_tail(in[0]))}; };
  EXPECT_FALSE((check<GeluBackward, gate>("n=17").agrees));
}

TEST(ElementwiseGeluJudge, ObjectsToTheGradientOfTheOtherForm) {
  constexpr auto tanh_form = [](const Two& in, float a) { return GeluTanhBackward::apply<float>(in, a); };
  constexpr auto erf_form = [](const Two& in, float a) { return GeluBackward::apply<float>(in, a); };
  EXPECT_FALSE((check<GeluBackward, tanh_form>("n=17").agrees));
  EXPECT_FALSE((check<GeluTanhBackward, erf_form>("n=17").agrees));
}

TEST(ElementwiseSigmoidJudge, ObjectsToAnExponentialThatOverflows) {
  constexpr auto overflowing = [](const One& in, float) {
    const float e = std::exp(in[0]);
    return One{e / (1 + e)};
  };
  EXPECT_TRUE((check<Sigmoid, overflowing>("n=129").agrees));
  EXPECT_FALSE((check<Sigmoid, overflowing>("n=129,values=special").agrees));
}

TEST(ElementwiseSigmoidJudge, ObjectsToTheTanhIdentityInTheTail) {
  constexpr auto by_tanh = [](const One& in, float) { return One{0.5F + 0.5F * std::tanh(0.5F * in[0])}; };
  EXPECT_FALSE((check<Sigmoid, by_tanh>("n=509,values=wide").agrees));
}

TEST(ElementwiseSigmoidJudge, ObjectsToAGradientThatCancels) {
  constexpr auto cancelling = [](const Two& in, float) {
    const volatile float square = in[0] * in[0];  // rounded, whatever the compiler fuses
    return One{in[1] * (in[0] - square)};
  };
  constexpr auto fused = [](const Two& in, float) { return One{in[1] * std::fma(-in[0], in[0], in[0])}; };
  EXPECT_FALSE((check<SigmoidBackward, cancelling>("n=509,values=wide").agrees));
  EXPECT_TRUE((check<SigmoidBackward, fused>("n=509,values=wide").agrees));
}

TEST(ElementwiseReluBackwardJudge, ObjectsToPassingTheGradientAtZero) {
  constexpr auto at_zero = [](const Two& in, float) { return One{in[0] >= 0 ? in[1] : 0}; };
  EXPECT_FALSE((check<ReluBackward, at_zero>("n=31,values=special", Fill::exact).agrees));
  EXPECT_TRUE((check<ReluBackward, at_zero>("n=31", Fill::exact).agrees));
}

TEST(ElementwiseReluBackwardJudge, ObjectsToAProductWithTheMask) {
  constexpr auto product = [](const Two& in, float) { return One{in[1] * (in[0] > 0 ? 1.0F : 0.0F)}; };
  EXPECT_TRUE((check<ReluBackward, product>("n=509", Fill::exact).agrees));
  EXPECT_FALSE((check<ReluBackward, product>("n=509,values=special", Fill::exact).agrees));
}

TEST(ElementwiseMultiplyBackwardJudge, ObjectsToOperandsExchanged) {
  constexpr auto exchanged = [](const std::array<float, 3>& in, float alpha) {
    return Two{alpha * in[2] * in[0], alpha * in[2] * in[1]};
  };
  EXPECT_FALSE((check<MultiplyBackward, exchanged>("n=9", Fill::exact).agrees));
}

TEST(ElementwiseMultiplyBackwardJudge, ObjectsToAlphaLeftOutOfOneOfThem) {
  constexpr auto one_sided = [](const std::array<float, 3>& in, float alpha) {
    return Two{alpha * in[2] * in[1], in[2] * in[0]};
  };
  EXPECT_FALSE((check<MultiplyBackward, one_sided>("n=9,alpha=3", Fill::exact).agrees));
  EXPECT_TRUE((check<MultiplyBackward, one_sided>("n=9", Fill::exact).agrees));
}

TEST(ElementwiseScaleAddReluJudge, ObjectsToReluBeforeTheSum) {
  constexpr auto early = [](const Two& in, float alpha) { return One{positive_part(alpha * in[0]) + in[1]}; };
  EXPECT_FALSE((check<ScaleAddRelu, early>("n=17", Fill::exact).agrees));
}

TEST(ElementwiseChannelBiasJudge, ObjectsToChannelsLast) {
  using Op = Pointwise<ChannelBias>;
  Registry registry;
  registry.add<Op>({.name = "naive", .run = [](const Op::Problem& p, const Op::Input& in, Op::Output& out) {
                      for (Index i = 0; i < p.size(); ++i) out.first[i] = in.in[0][i] + in.in[1][i % p.c];
                    }});
  EXPECT_FALSE(registry.at(Op::name).open("n=2,c=3,h=5,w=7", {.rng = Rng(5)})->check(0, {}).agrees);
  EXPECT_TRUE(registry.at(Op::name).open("n=2,c=3,h=1,w=1", {.rng = Rng(5)})->check(0, {}).agrees);
}

// d = 0.5 + 1e-4 2 = 0.5002; b = 0.9 (-1) + d = -0.3998; p = 2 + 0.03998, or 2 - 0.1 (d + 0.9 b) = 2 -
// 0.1 (0.5002 - 0.35982).
TEST(Sgd, TakesAStepWorkedByHand) {
  constexpr std::array in{2.0, 0.5, -1.0};
  EXPECT_THAT(value<Sgd>(in), DoubleNear(2.03998, 1e-15));
  EXPECT_THAT(value<Sgd>(in, 1, 1), DoubleNear(-0.3998, 1e-15));
  EXPECT_THAT(value<SgdNesterov>(in), DoubleNear(1.985962, 1e-15));
  EXPECT_THAT(value<SgdNesterov>(in, 1, 1), DoubleNear(-0.3998, 1e-15));
  EXPECT_THAT(value<Sgd>(std::array{0.0, 1.0, 0.0}, 1, 1), 1);  // a first buffer is the gradient
}

TEST(SgdJudge, ObjectsToOtherMomenta) {
  using Three = std::array<float, 3>;
  constexpr auto right = [](const Three& in, float a) { return Sgd::apply<float>(in, a); };
  constexpr auto nesterov = [](const Three& in, float a) { return SgdNesterov::apply<float>(in, a); };
  // An average of gradients, as in Adam.
  constexpr auto dampened = [](const Three& in, float) {
    const float b = 0.9F * in[2] + 0.1F * (in[1] + 1e-4F * in[0]);
    return Two{in[0] - 0.1F * b, b};
  };
  // The decay taken from p alone.
  constexpr auto decoupled = [](const Three& in, float) {
    const float b = 0.9F * in[2] + in[1];
    return Two{in[0] - 0.1F * (b + 1e-4F * in[0]), b};
  };
  constexpr auto without_decay = [](const Three& in, float a) {
    const Two step = Sgd::apply<float>({0, in[1], in[2]}, a);
    return Two{in[0] + step[0], step[1]};
  };
  // p is reduced twice, which the bound allows.
  constexpr auto in_two = [](const Three& in, float) {
    const float d = in[1] + 1e-4F * in[0], b = 0.9F * in[2] + d;
    return Two{in[0] - 0.1F * d - 0.09F * b, b};
  };
  for (const char* problem : {"n=509", "n=509,values=wide", "n=509,values=special"}) {
    EXPECT_TRUE((check<Sgd, right>(problem).agrees)) << problem;
    EXPECT_TRUE((check<SgdNesterov, nesterov>(problem).agrees)) << problem;
    EXPECT_FALSE((check<Sgd, nesterov>(problem).agrees)) << problem;
    EXPECT_FALSE((check<SgdNesterov, right>(problem).agrees)) << problem;
    EXPECT_FALSE((check<Sgd, dampened>(problem).agrees)) << problem;
    EXPECT_FALSE((check<Sgd, decoupled>(problem).agrees)) << problem;
    EXPECT_FALSE((check<Sgd, without_decay>(problem).agrees)) << problem;
  }
  EXPECT_TRUE((check<SgdNesterov, in_two>("n=509").agrees));
}

TEST(Pointwise, CostCountsEachOperandOnce) {
  // 120 elements: two inputs and one output; a bias of three numbers.
  EXPECT_EQ(Pointwise<GeluBackward>::cost({.n = 120}).bytes_read, 960);
  EXPECT_EQ(Pointwise<GeluBackward>::cost({.n = 120}).bytes_written, 480);
  EXPECT_EQ(Pointwise<MultiplyBackward>::cost({.n = 120}).bytes_written, 960);
  EXPECT_EQ(Pointwise<BiasGelu>::cost({.n = 2, .c = 3, .h = 4, .w = 5}).bytes_read, 480 + 12);
}

}  // namespace
}  // namespace assay::pointwise_test
