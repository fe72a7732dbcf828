#include "assay/ops/train_step.hpp"

#include "assay/error.hpp"
#include "assay/ops/adamw.hpp"
#include "assay/ops/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace assay::train_step_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using training::Network;
using training::Segment;
using training::Segments;
using Problem = TrainStep::Problem;

/// A step of a problem, done right, with what is expected of it.
struct Step {
  Problem problem;
  TrainStep::Input in;
  TrainStep::Expected want;
  TrainStep::Output out;

  explicit Step(const Problem& p, std::uint64_t seed = 1) : problem(p) {
    Setting setting{.fill = Fill::uniform, .rng = Rng(seed)};
    in = TrainStep::make_input(p, setting);
    want = TrainStep::expect(p, in, setting);
    out = TrainStep::make_output(p, in, setting);
    TrainStep::run(*training::naive_trainer(network()), p, in, out);
  }
  Network network() const { return TrainStep::network_of(problem); }
  Agreement judged() const { return TrainStep::judge(problem, in, want, out); }
  /// Clips and updates once more, from the gradient in `out`; kept and the update may be at fault.
  void update(const std::function<double(double norm)>& kept_of,
              const std::function<adamw::Parameter<double>(double g, adamw::Parameter<double> at)>& step) {
    double squares = 0;
    for (const float g : out.g) squares += static_cast<double>(g) * static_cast<double>(g);
    out.norm[0] = static_cast<float>(std::sqrt(squares));
    for (Index i = 0; i < out.p.size(); ++i) {
      const auto after =
          step(kept_of(std::sqrt(squares)) * static_cast<double>(out.g[i]),
               {static_cast<double>(in.p[i]), static_cast<double>(in.m[i]), static_cast<double>(in.v[i])});
      out.p[i] = static_cast<float>(after.p);
      out.m[i] = static_cast<float>(after.m);
      out.v[i] = static_cast<float>(after.v);
    }
  }
};

double clipped(double norm) { return std::min(1.0, 1 / (norm + 1e-6)); }

template <class Formula>
auto step_of(Index t) {
  return [t](double g, adamw::Parameter<double> at) {
    return adamw::step<Formula, double>(g, at, adamw::Constants<double>(t));
  };
}

constexpr Problem classifier{.network = 0, .batch = 3, .channels = 2, .side = 9, .width = 4, .t = 2};
constexpr Problem transformer{
    .network = 1, .batch = 3, .channels = 1, .side = 8, .width = 8, .patch = 4, .heads = 2, .t = 2};

// All parameters 0: every class has 1/10, and only the bias of the last layer has a gradient.
TEST(TrainStep, MatchesAStepWorkedByHand) {
  const Network network{.kind = training::Kind::classifier, .channels = 1, .side = 8, .width = 1};
  Rng rng(1);
  training::Parameters at(network, rng);
  std::ranges::fill(at.p, 0.0F);
  const std::vector<float> pixels(64, 0.5F);
  const Index label = 3;
  const auto trainer = training::naive_trainer(network);
  const auto result = training::train_step(*trainer, at.state(), {pixels.data(), &label, 1}, 1);
  EXPECT_NEAR(result.loss, std::log(10), 1e-6);
  // 9 (1/10)^2 + (9/10)^2 = 0.9, whose root is below 1: nothing is clipped.
  EXPECT_NEAR(result.norm, std::sqrt(0.9), 1e-6);
  const Index biases = at.p.size() - training::classes;
  for (Index i = 0; i < at.p.size(); ++i) {
    const float g = i < biases ? 0 : i - biases == label ? -0.9F : 0.1F;
    EXPECT_NEAR(at.g[i], g, 1e-7) << i;
    EXPECT_NEAR(at.m[i], 0.1F * g, 1e-7) << i;
    EXPECT_NEAR(at.v[i], 0.001F * g * g, 1e-9) << i;
    // The first step of Adam is lr long, whatever the gradient: -1e-3 g / |g|.
    EXPECT_NEAR(at.p[i], g == 0 ? 0 : g < 0 ? 1e-3F : -1e-3F, 1e-9) << i;
  }
}

TEST(TrainStep, PhasesAreTheStep) {
  const Step of(classifier);
  Rng rng(4);
  training::Parameters whole(of.network(), rng), phases(of.network(), rng);
  std::ranges::copy(whole.p, phases.p.begin());
  const auto trainer = training::naive_trainer(of.network()), other = training::naive_trainer(of.network());
  const auto result = training::train_step(*trainer, whole.state(), of.in.batch(), 7);
  other->prepare(3);
  other->forward(phases.state(), of.in.batch());
  EXPECT_EQ(other->loss(), result.loss);
  other->backward(phases.state());
  EXPECT_EQ(other->clip(phases.state()), result.norm);
  other->optimize(phases.state(), 7);
  EXPECT_TRUE(std::ranges::equal(whole.p, phases.p));
  EXPECT_TRUE(std::ranges::equal(whole.v, phases.v));
}

TEST(TrainStep, HasCornersOnBothSidesOfTheClippingLimit) {
  int above = 0, below = 0;
  for (const Problem& p : TrainStep::corner_cases()) {
    const Step step(p, fnv1a(to_text(p)));
    EXPECT_TRUE(step.judged().agrees) << to_text(p) << ": " << step.judged().detail;
    (step.out.norm[0] > 1 ? above : below) += 1;
  }
  EXPECT_GE(above, 2);
  EXPECT_GE(below, 1);
}

// The margin that the docstring speaks of, as far as the reference in single precision goes.
TEST(TrainStep, NeedsAQuarterOfTheMarginOfItsBounds) {
  for (const Problem& p : TrainStep::corner_cases()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Step step(p, seed);
      EXPECT_LT(std::abs(static_cast<double>(step.out.loss[0]) - step.want.loss.value),
                step.want.loss.bound() / 4);
      for (Index i = 0; i < step.out.g.size(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        ASSERT_LE(std::abs(static_cast<double>(step.out.g[i]) - step.want.g[at]), step.want.bound[at] / 4)
            << to_text(p) << " " << i << " seed " << seed;
      }
    }
  }
}

double root_mean_square(std::span<const double> values) {
  double squares = 0;
  for (const double x : values) squares += x * x;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// The docstring claims a tight bound: were it loose, a wrong gradient could pass.
TEST(TrainStep, BoundsGradientsFarBelowTheirSize) {
  for (const Problem& p : TrainStep::corner_cases()) {
    const Step step(p);
    for (const Segment& segment : Segments(step.network()).all()) {
      const auto begin = static_cast<std::size_t>(segment.begin),
                 count = static_cast<std::size_t>(segment.count);
      const double size = root_mean_square(std::span(step.want.g).subspan(begin, count)),
                   bound = root_mean_square(std::span(step.want.bound).subspan(begin, count));
      if (size > 0) {
        EXPECT_LT(bound, 0.1 * size) << to_text(p) << " " << segment.name;
      }
    }
  }
}

TEST(TrainStep, IsJudgedRightWhereItsUpdateIsComputedApart) {
  for (const Problem& p : {classifier, transformer}) {
    Step step(p);
    step.update(clipped, step_of<adamw::Paper>(p.t));
    EXPECT_TRUE(step.judged().agrees) << step.judged().detail;
  }
}

TEST(TrainStep, CatchesASegmentOfTheGradientWithTheWrongSign) {
  for (const Problem& p : {classifier, transformer}) {
    for (const Segment& segment : Segments(TrainStep::network_of(p)).all()) {
      Step step(p);
      for (Index i = segment.begin; i < segment.begin + segment.count; ++i) step.out.g[i] = -step.out.g[i];
      EXPECT_THAT(step.judged().detail, HasSubstr("g of " + std::string(segment.name)));
    }
  }
}

TEST(TrainStep, CatchesAnImageLeftOutOfTheBatch) {
  for (const Problem& p : {classifier, transformer}) {
    Step step(p);
    const auto model = training::reference_model<float>(step.network());
    std::vector<float> logit_gradient(static_cast<std::size_t>(3 * training::classes));
    training::Batch first = step.in.batch();
    first.n = 2;
    const float* logits = model->forward(step.in.p.data(), first);
    training::cross_entropy(logits, first.labels, 2, 3, logit_gradient.data());
    model->backward(step.in.p.data(), logit_gradient.data(), step.out.g.data());
    EXPECT_FALSE(step.judged().agrees);
  }
}

TEST(TrainStep, CatchesAnUpdateThatIsNotClipped) {
  Problem p = classifier;
  p.batch = 1;
  Step step(p);
  ASSERT_GT(step.out.norm[0], 1.1F);
  step.update([](double) { return 1.0; }, step_of<adamw::Paper>(p.t));
  EXPECT_THAT(step.judged().detail, HasSubstr("p of conv1.weight"));
}

TEST(TrainStep, CatchesTheOtherFormsOfAdamW) {
  for (const Problem& p : {classifier, transformer}) {
    Step hat(p), inside(p);
    hat.update(clipped, step_of<adamw::EpsilonHat>(p.t));
    EXPECT_THAT(hat.judged().detail, HasSubstr("p of "));
    inside.update(clipped, step_of<adamw::EpsilonInside>(p.t));
    EXPECT_THAT(inside.judged().detail, HasSubstr("p of "));
  }
}

TEST(TrainStep, CatchesAStepNumberThatIsOneOff) {
  Step step(classifier);
  step.update(clipped, step_of<adamw::Paper>(classifier.t + 1));
  EXPECT_THAT(step.judged().detail, HasSubstr("p of conv1.weight"));
}

TEST(TrainStep, CatchesDecayThatIsLeftOut) {
  Step step(transformer);
  step.update(clipped, [](double g, adamw::Parameter<double> at) {
    auto after = step_of<adamw::Paper>(transformer.t)(g, at);
    after.p += adamw::Constants<double>(1).decay * at.p;
    return after;
  });
  EXPECT_THAT(step.judged().detail, HasSubstr("p of embed.weight"));
}

TEST(TrainStep, CatchesALossOfTheSumInsteadOfTheMean) {
  Step step(classifier);
  step.out.loss[0] *= 3;
  EXPECT_THAT(step.judged().detail, HasSubstr("loss"));
}

TEST(TrainStep, RefusesFieldsOfTheOtherNetwork) {
  Problem p = classifier;
  p.heads = 2;
  EXPECT_THAT([&] { TrainStep::network_of(p); },
              ThrowsMessage<Error>(HasSubstr("patch, heads and mask are of network=transformer")));
}

}  // namespace
}  // namespace assay::train_step_test
