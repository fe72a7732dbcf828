#include "assay/ops/adamw.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay::adamw_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Problem = AdamWPaper::Problem;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

template <class Op>
typename Op::Expected oracle(const typename Op::Problem& p, const typename Op::Input& in) {
  Setting setting;
  return Op::expect(p, in, setting);
}

/// One parameter as a wrong kernel leaves it.
struct Parameter {
  float p, m, v;
};
using Step = Parameter (*)(float g, Parameter at, Index t);

/// A kernel with its fault, alone, on one problem.
template <class Op>
Agreement check(Step step, const char* problem) {
  Registry registry;
  const auto prepare = [step](const typename Op::Problem& p, const auto&, const Context&) {
    return [=](const typename Op::Input& in, typename Op::Output& out) {
      for (Index i = 0; i < p.n; ++i) {
        const Parameter after = step(in.g[i], {out.p[i], out.m[i], out.v[i]}, p.t);
        out.p[i] = after.p;
        out.m[i] = after.m;
        out.v[i] = after.v;
      }
    };
  };
  registry.add<Op>({.name = "naive", .prepare = prepare});
  return registry.at(Op::name).open(problem, {.fill = Fill::uniform, .rng = Rng(5)})->check(0, {});
}

/// Moments as they should be and decayed p; the faults below differ in what they subtract from it.
Parameter moments(float g, Parameter at) {
  return {at.p - 1e-5F * at.p, 0.9F * at.m + 0.1F * g, 0.999F * at.v + 0.001F * (g * g)};
}
struct Corrections {
  float first, second;
};
Corrections corrections(Index t) {
  const auto c = adamw::bias_corrections(t);
  return {static_cast<float>(c.first), static_cast<float>(c.second)};
}

Parameter paper(float g, Parameter at, Index t) {
  Parameter x = moments(g, at);
  const auto c = corrections(t);
  x.p -= 1e-3F * (x.m / c.first) / (std::sqrt(x.v / c.second) + 1e-8F);
  return x;
}
Parameter epsilon_hat(float g, Parameter at, Index t) {
  Parameter x = moments(g, at);
  const auto c = corrections(t);
  x.p -= 1e-3F * std::sqrt(c.second) / c.first * x.m / (std::sqrt(x.v) + 1e-8F);
  return x;
}
Parameter epsilon_inside_the_root(float g, Parameter at, Index t) {
  Parameter x = moments(g, at);
  const auto c = corrections(t);
  x.p -= 1e-3F * (x.m / c.first) / std::sqrt(x.v / c.second + 1e-8F);
  return x;
}

TEST(AdamW, TakesAFirstStepWorkedByHand) {
  // m = 0.1 * 2, v = 0.001 * 4, so that m_hat = 2 and sqrt(v_hat) = 2: p = 0.99999 * 3 - 1e-3 * 2 / (2 +
  // 1e-8).
  const AdamWPaper::Input in{numbers({2}), numbers({3}), numbers({0}), numbers({0})};
  const auto want = oracle<AdamWPaper>({}, in);
  EXPECT_THAT(want.m.value, ElementsAre(DoubleNear(0.2, 1e-15)));
  EXPECT_THAT(want.v.value, ElementsAre(DoubleNear(0.004, 1e-15)));
  EXPECT_THAT(want.p.value, ElementsAre(DoubleNear(2.99997 - 1e-3 * (1 - 5e-9), 1e-13)));
}

TEST(AdamW, TakesASecondStepWorkedByHand) {
  // m = 0.9 * 1 + 0.1 * -1 = 0.8, v = 0.999 * 1 + 0.001 * 1 = 1; corrections 1 - 0.81 = 0.19 and
  // 1 - 0.998001 = 0.001999. p = 0 - 1e-3 * (0.8 / 0.19) / sqrt(1 / 0.001999) = -4.2105263e-3 * 0.0447102.
  const AdamWPaper::Input in{numbers({-1}), numbers({0}), numbers({1}), numbers({1})};
  const auto want = oracle<AdamWPaper>({.t = 2}, in);
  EXPECT_THAT(want.m.value, ElementsAre(DoubleNear(0.8, 1e-15)));
  EXPECT_THAT(want.v.value, ElementsAre(DoubleNear(1, 1e-15)));
  EXPECT_THAT(want.p.value, ElementsAre(DoubleNear(-1e-3 * 4.2105263 * 0.0447102, 1e-9)));
}

TEST(AdamWForms, DifferByAQuarterWhereTheGradientIsAMillionth) {
  // At t = 1 the forms are lr g / (|g| + 1e-8) and lr g / (|g| + 1e-8 / sqrt(0.001)), p = 0.
  const auto input = [] {
    return AdamWPaper::Input{numbers({1e-6F}), numbers({0}), numbers({0}), numbers({0})};
  };
  const double p = oracle<AdamWPaper>({}, input()).p.value[0];
  const auto in = input();
  const AdamWEpsilonHat::Input same{numbers({in.g[0]}), numbers({0}), numbers({0}), numbers({0})};
  const double p_hat = oracle<AdamWEpsilonHat>({}, same).p.value[0];
  EXPECT_NEAR(p, -1e-3 / 1.01, 1e-9);
  EXPECT_NEAR(p_hat, -1e-3 / (1 + 0.01 * 31.6227766), 1e-9);
}

TEST(AdamWForms, StepShorterWithEpsilonInsideTheRoot) {
  // At t = 1, p = 0: lr g / sqrt(g^2 + 1e-8), against lr g / (|g| + 1e-8).
  const auto ratio = [](float g) {
    const AdamWPaper::Input in{numbers({g}), numbers({0}), numbers({0}), numbers({0})};
    const AdamWEpsilonInside::Input same{numbers({g}), numbers({0}), numbers({0}), numbers({0})};
    return oracle<AdamWEpsilonInside>({}, same).p.value[0] / oracle<AdamWPaper>({}, in).p.value[0];
  };
  EXPECT_NEAR(ratio(1e-4F), 0.7072, 1e-4);
  EXPECT_NEAR(ratio(1e-6F), 0.0101, 1e-5);
}

TEST(AdamWForms, AreOneFormulaWithAnotherEpsilon) {
  // lr m_hat / (sqrt(v_hat) + e) = lr sqrt(c2) / c1 m / (sqrt(v) + e sqrt(c2)).
  const auto with_scaled_epsilon = [](float g, Parameter at, Index t) {
    Parameter x = moments(g, at);
    const auto c = adamw::bias_corrections(t);
    x.p -= static_cast<float>(1e-3 * std::sqrt(c.second) / c.first) * x.m /
           (std::sqrt(x.v) + static_cast<float>(1e-8 * std::sqrt(c.second)));
    return x;
  };
  for (const char* problem : {"n=997", "n=997,gradients=small", "n=997,t=7,gradients=tiny"}) {
    const Agreement outcome = check<AdamWPaper>(with_scaled_epsilon, problem);
    EXPECT_TRUE(outcome.agrees) << problem << ": " << outcome.detail;
  }
}

TEST(AdamWJudge, AcceptsEachFormWrittenElsewhere) {
  for (const char* problem : {"n=997", "n=997,gradients=small", "n=997,t=7,gradients=tiny",
                              "n=997,gradients=special", "n=997,t=1000,gradients=special"}) {
    EXPECT_TRUE(check<AdamWPaper>(paper, problem).agrees) << problem;
    EXPECT_TRUE(check<AdamWEpsilonHat>(epsilon_hat, problem).agrees) << problem;
    EXPECT_TRUE(check<AdamWEpsilonInside>(epsilon_inside_the_root, problem).agrees) << problem;
  }
}

TEST(AdamWJudge, ObjectsToEpsilonInsideTheRoot) {
  for (const char* problem :
       {"n=101,gradients=small", "n=101,gradients=tiny", "n=101,t=1000,gradients=tiny"}) {
    EXPECT_FALSE(check<AdamWPaper>(epsilon_inside_the_root, problem).agrees) << problem;
    EXPECT_FALSE(check<AdamWEpsilonHat>(epsilon_inside_the_root, problem).agrees) << problem;
  }
}

TEST(AdamWJudge, ObjectsToTheOtherForm) {
  for (const char* problem :
       {"n=101,gradients=small", "n=101,gradients=tiny", "n=101,t=1000,gradients=tiny"}) {
    EXPECT_FALSE(check<AdamWPaper>(epsilon_hat, problem).agrees) << problem;
    EXPECT_FALSE(check<AdamWEpsilonHat>(paper, problem).agrees) << problem;
    EXPECT_FALSE(check<AdamWEpsilonInside>(paper, problem).agrees) << problem;
    EXPECT_FALSE(check<AdamWEpsilonInside>(epsilon_hat, problem).agrees) << problem;
  }
}

TEST(AdamWJudge, ObjectsToDecayAfterTheUpdate) {
  const auto faulty = [](float g, Parameter at, Index t) {
    Parameter x = paper(g, at, t);
    x.p = at.p - (at.p - 1e-5F * at.p - x.p);
    x.p -= 1e-5F * x.p;
    return x;
  };
  EXPECT_FALSE(check<AdamWPaper>(faulty, "n=101").agrees);
}

TEST(AdamWJudge, ObjectsToDecayThroughTheGradient) {
  const auto faulty = [](float g, Parameter at, Index t) { return paper(g + 0.01F * at.p, at, t); };
  EXPECT_FALSE(check<AdamWPaper>(faulty, "n=101").agrees);
}

TEST(AdamWJudge, ObjectsToOneMinusBeta2InFloat) {
  const auto faulty = [](float g, Parameter at, Index t) {
    Parameter x = paper(g, at, t);
    x.v = 0.999F * at.v + (1 - 0.999F) * (g * g);
    return x;
  };
  const Agreement outcome = check<AdamWPaper>(faulty, "n=101");
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("v["));
}

TEST(AdamWJudge, ObjectsToTheCorrectionsOfTheNextStep) {
  const auto faulty = [](float g, Parameter at, Index t) { return paper(g, at, t + 1); };
  for (const char* problem : {"n=101", "n=101,t=10", "n=101,t=1000"}) {
    EXPECT_FALSE(check<AdamWPaper>(faulty, problem).agrees) << problem;
  }
}

TEST(AdamWJudge, ObjectsToAnUnrefinedReciprocal) {
  const auto faulty = [](float g, Parameter at, Index t) {
    Parameter x = paper(g, at, t);
    const float decayed = at.p - 1e-5F * at.p;
    x.p = decayed + (x.p - decayed) * (1 + 0x1p-12F);
    return x;
  };
  EXPECT_FALSE(check<AdamWPaper>(faulty, "n=101").agrees);
}

TEST(AdamWJudge, ObjectsToFlushingSubnormals) {
  const auto faulty = [](float g, Parameter at, Index t) {
    Parameter x = paper(g, at, t);
    if (std::abs(x.m) < std::numeric_limits<float>::min()) x.m = 0;
    return x;
  };
  EXPECT_FALSE(check<AdamWPaper>(faulty, "n=101,gradients=special").agrees);
  EXPECT_TRUE(check<AdamWPaper>(faulty, "n=101,gradients=tiny").agrees);
}

TEST(AdamWInput, HasNoMomentsBeforeTheFirstStep) {
  Setting setting{.fill = Fill::uniform};
  const auto first = AdamWPaper::make_input({.n = 3}, setting);
  EXPECT_THAT(std::vector(first.m.begin(), first.m.end()), ::testing::Each(0));
  EXPECT_THAT(std::vector(first.v.begin(), first.v.end()), ::testing::Each(0));
  const auto second = AdamWPaper::make_input({.n = 3, .t = 2}, setting);
  EXPECT_THAT(std::vector(second.v.begin(), second.v.end()), ::testing::Each(::testing::Gt(0)));
}

/// Repeated steps of one t with the same gradients are what a timing loop does.
TEST(AdamWState, StaysNormalUnderRepetitionOutsideSpecialGradients) {
  for (const Index gradients : {0, 1, 2}) {
    const Problem problem{.n = 16, .t = 10, .gradients = gradients};
    Setting setting{.fill = Fill::uniform};
    const auto in = AdamWPaper::make_input(problem, setting);
    const auto out = AdamWPaper::make_output(problem, in, setting);
    for (Index i = 0; i < problem.n; ++i) {
      Parameter x{out.p[i], out.m[i], out.v[i]};
      for (int call = 0; call < 2000; ++call) x = paper(in.g[i], x, problem.t);
      EXPECT_TRUE(std::isfinite(x.p)) << i;
      EXPECT_TRUE(std::isnormal(x.m)) << i;
      EXPECT_TRUE(std::isnormal(x.v)) << i;
    }
  }
}

TEST(AdamWCost, Counts28BytesAndTheOperationsOfTheForm) {
  const Cost paper_cost = AdamWPaper::cost({.n = 10});
  EXPECT_EQ(paper_cost.bytes_read, 160);
  EXPECT_EQ(paper_cost.bytes_written, 120);
  EXPECT_EQ(paper_cost.flops, 160);
  EXPECT_EQ(AdamWEpsilonHat::cost({.n = 10}).flops, 140);
}

TEST(AdamWJudge, ObjectsToNanThatIsSkipped) {
  const Step usual = [](float g, Parameter at, Index t) {
    const adamw::Constants<float> k(t);
    const auto [p, m, v] = adamw::step<adamw::Paper, float>(g, {at.p, at.m, at.v}, k);
    return Parameter{p, m, v};
  };
  const Step skipping = [](float g, Parameter at, Index t) {
    const adamw::Constants<float> k(t);
    const auto [p, m, v] = adamw::step<adamw::Paper, float>(g == g ? g : 0, {at.p, at.m, at.v}, k);
    return Parameter{p, m, v};
  };
  const Agreement right = check<AdamWPaper>(usual, "n=101,t=10,gradients=special");
  EXPECT_TRUE(right.agrees) << right.detail;
  EXPECT_TRUE(check<AdamWPaper>(skipping, "n=101,t=10").agrees);
  EXPECT_FALSE(check<AdamWPaper>(skipping, "n=101,t=10,gradients=special").agrees);
}

}  // namespace
}  // namespace assay::adamw_test
