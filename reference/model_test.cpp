// Tests both networks: logits worked by hand, and every gradient against differences of the loss in double.

#include "assay/ops/model.hpp"

#include "assay/ops/layernorm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace assay::training::model_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pointwise;

using Numbers = std::vector<double>;

/// Images and labels of a seed.
struct Images {
  std::vector<float> pixels;
  std::vector<Index> labels;

  Images(const Network& network, Index n, std::uint64_t seed = 3)
      : pixels(static_cast<std::size_t>(n * network.pixels())), labels(static_cast<std::size_t>(n)) {
    Rng rng(seed);
    for (float& x : pixels) x = static_cast<float>(rng.uniform(-1, 1));
    for (Index& label : labels) label = rng.integer(0, classes - 1);
  }
  Batch batch() const { return {pixels.data(), labels.data(), static_cast<Index>(labels.size())}; }
};

template <class Real = double>
std::vector<Real> initial(const Network& network, std::uint64_t seed = 5) {
  std::vector<float> p(static_cast<std::size_t>(Segments(network).total()));
  Rng rng(seed);
  initialize(network, rng, p);
  std::vector<Real> out;
  for (const float x : p) out.emplace_back(static_cast<Real>(x));
  return out;
}

TEST(CrossEntropy, IsTheLogarithmOfTheClassesWhereAllAreAlike) {
  const Numbers logits(20, 3.5);
  const Index labels[] = {0, 4};
  Numbers gradient(20);
  EXPECT_NEAR(cross_entropy(logits.data(), labels, 2, 2, gradient.data()), std::log(10), 1e-15);
  // (1/10 - [label]) / 2.
  for (Index i = 0; i < 20; ++i) {
    EXPECT_NEAR(gradient[static_cast<std::size_t>(i)], i == 0 || i == 14 ? -0.45 : 0.05, 1e-15) << i;
  }
}

TEST(CrossEntropy, MatchesTwoClassesWorkedByHand) {
  // Eight classes that do not count, exp(-1000) = 0; the others 3 : 1. -log(1/4) = log 4.
  Numbers logits(10, -1000), gradient(10);
  logits[2] = 700 + std::log(3);
  logits[6] = 700;
  const Index label = 6;
  EXPECT_NEAR(cross_entropy(logits.data(), &label, 1, 1, gradient.data()), std::log(4), 1e-12);
  EXPECT_NEAR(gradient[2], 0.75, 1e-12);
  EXPECT_NEAR(gradient[6], -0.75, 1e-12);
  EXPECT_EQ(gradient[0], 0);
}

TEST(CrossEntropy, OfPartsOfABatchAddsUpToThatOfTheWhole) {
  Rng rng(1);
  Numbers logits(50), whole(50), parts(50);
  for (double& z : logits) z = rng.uniform(-3, 3);
  const Index labels[] = {1, 9, 0, 3, 3};
  const double loss = cross_entropy(logits.data(), labels, 5, 5, whole.data());
  const double sum = cross_entropy(logits.data(), labels, 2, 5, parts.data()) +
                     cross_entropy(logits.data() + 20, labels + 2, 3, 5, parts.data() + 20);
  EXPECT_NEAR(loss, sum, 1e-15);
  EXPECT_THAT(parts, Pointwise(DoubleNear(1e-16), whole));
}

/// Parameters that are 0 but for those that are set.
struct Sparse {
  Network network;
  Numbers p;
  explicit Sparse(const Network& of) : network(of), p(static_cast<std::size_t>(Segments(of).total())) {}
  double& at(std::string_view name, Index i) { return *(Segments(network).in(p.data(), name) + i); }
  Numbers logits(const Batch& batch) {
    const auto model = reference_model<double>(network);
    const double* z = model->forward(p.data(), batch);
    return {z, z + batch.n * classes};
  }
};

TEST(Classifier, PassesAPixelThroughTheCentresOfItsKernels) {
  const Network network{.kind = Kind::classifier, .channels = 1, .side = 8, .width = 2};
  Sparse of(network);
  of.at("conv1.weight", 9 + 4) = 2;                        // filter 1, its centre
  of.at("conv1.bias", 1) = 0.5;                            //
  of.at("conv2.weight", 3 * 18 + 9 + 4) = 1;               // filter 3, channel 1
  of.at("dense.weight", (3 * 16 + 5) * classes + 7) = 10;  // of filter 3 the place (1, 1), to class 7
  of.at("dense.bias", 0) = -1;
  Images images(network, 2);
  // The place (1, 1) of a convolution with stride 2 sees the pixel (2, 2).
  images.pixels[2 * 8 + 2] = 0.25F;
  images.pixels[64 + 2 * 8 + 2] = -0.5F;
  // 10 (2 * 0.25 + 0.5) = 10; 2 * -0.5 + 0.5 is negative.
  EXPECT_THAT(of.logits(images.batch()),
              ElementsAre(-1, 0, 0, 0, 0, 0, 0, 10, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

/// Four tokens of which only the first is not zero, and heads that look at all tokens alike.
Numbers attended_by_hand(Mask mask) {
  const Network network{
      .kind = Kind::transformer, .channels = 1, .side = 8, .width = 4, .patch = 4, .heads = 1, .mask = mask};
  Sparse of(network);
  of.at("embed.weight", 0) = 1;  // pixel 0 of a patch becomes (1, -1, 0, 0)
  of.at("embed.weight", 1) = -1;
  of.at("norm1.gamma", 0) = 1;
  of.at("attention.weight", 8) = 1;  // number 0 becomes number 0 of the value
  of.at("project.weight", 0) = 1;
  of.at("head.weight", 0) = 1;
  of.at("head.bias", 2) = 3;
  Images images(network, 1);
  std::ranges::fill(images.pixels, 0.0F);
  images.pixels[0] = 1;
  return of.logits(images.batch());
}

// The first token's value is y = 1 / sqrt(1/2 + 1e-5), the variance of (1, -1, 0, 0) being 1/2; the others'
// are 0. The mean over tokens is that of number 0 of the embedding, 1/4, and of what attention adds.
TEST(Transformer, SharesAValueAmongAllTokens) {
  const double y = 1 / std::sqrt(0.5 + layernorm::epsilon);
  const Numbers z = attended_by_hand(Mask::full);
  EXPECT_NEAR(z[0], 0.25 + y / 4, 1e-15);
  EXPECT_EQ(z[2], 3);
}

TEST(Transformer, SharesAValueAmongTheTokensThatAMaskLetsSeeIt) {
  // 1, 1/2, 1/3 and 1/4 of the value, since token i looks at i + 1 tokens: 25/12, over 4 tokens.
  const double y = 1 / std::sqrt(0.5 + layernorm::epsilon);
  EXPECT_NEAR(attended_by_hand(Mask::causal)[0], 0.25 + y * 25 / 48, 1e-15);
}

/// The loss of a batch as a function of the parameters.
struct Loss {
  Network network;
  Images images;
  Numbers p;
  double value() const {
    const auto model = reference_model<double>(network);
    const double* logits = model->forward(p.data(), images.batch());
    Numbers gradient(images.labels.size() * classes);
    const auto n = static_cast<Index>(images.labels.size());
    return cross_entropy(logits, images.labels.data(), n, n, gradient.data());
  }
  /// The central difference, whose error is of the order of the step squared.
  double slope(std::size_t at) {
    constexpr double step = 1e-5;
    const double before = p[at];
    p[at] = before + step;
    const double above = value();
    p[at] = before - step;
    const double below = value();
    p[at] = before;
    return (above - below) / (2 * step);
  }
};

/// A fault that is planted in a gradient of the reference.
using Fault = std::function<void(const Network&, Numbers&)>;

/// The gradient of a batch of n images by backward(), and by differences.
class Compared {
 public:
  Compared(const Network& network, Index n) : network_(network) {
    Loss loss{network, Images(network, n), initial(network)};
    const auto model = reference_model<double>(network);
    Numbers logit_gradient(static_cast<std::size_t>(n * classes));
    gradient_.resize(loss.p.size());
    const double* logits = model->forward(loss.p.data(), loss.images.batch());
    cross_entropy(logits, loss.images.labels.data(), n, n, logit_gradient.data());
    model->backward(loss.p.data(), logit_gradient.data(), gradient_.data());
    for (std::size_t at = 0; at < loss.p.size(); ++at) slopes_.push_back(loss.slope(at));
  }

  /// Names of the segments whose gradient is not the slope of the loss, after a fault.
  std::set<std::string> wrong_segments(const Fault& fault = {}) const {
    Numbers gradient = gradient_;
    if (fault) fault(network_, gradient);
    std::set<std::string> wrong;
    for (const Segment& segment : Segments(network_).all()) {
      for (Index i = segment.begin; i < segment.begin + segment.count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double bound = 1e-8 + 1e-6 * std::abs(slopes_[at]);
        if (!(std::abs(gradient[at] - slopes_[at]) <= bound)) wrong.emplace(segment.name);
      }
    }
    return wrong;
  }

 private:
  Network network_;
  Numbers gradient_, slopes_;
};

constexpr Network small_classifier{.kind = Kind::classifier, .channels = 2, .side = 9, .width = 2};
constexpr Network small_transformer{
    .kind = Kind::transformer, .channels = 1, .side = 8, .width = 6, .patch = 4, .heads = 2};

TEST(Gradients, OfTheClassifierAreTheSlopesOfItsLoss) {
  EXPECT_THAT(Compared(small_classifier, 3).wrong_segments(), IsEmpty());
}

TEST(Gradients, OfTheTransformerAreTheSlopesOfItsLoss) {
  for (const Mask mask : {Mask::full, Mask::causal}) {
    Network network = small_transformer;
    network.mask = mask;
    EXPECT_THAT(Compared(network, 3).wrong_segments(), IsEmpty());
  }
}

/// A fault in one segment.
Fault in_segment(std::string_view name, double factor) {
  return [name, factor](const Network& network, Numbers& gradient) {
    for (const Segment& segment : Segments(network).all()) {
      if (segment.name != name) continue;
      for (Index i = 0; i < segment.count; ++i)
        gradient[static_cast<std::size_t>(segment.begin + i)] *= factor;
    }
  };
}

void expect_caught_in_every_segment(double factor) {
  for (const Network& network : {small_classifier, small_transformer}) {
    const Compared compared(network, 1);
    for (const Segment& segment : Segments(network).all()) {
      const std::string name(segment.name);
      EXPECT_THAT(compared.wrong_segments(in_segment(name, factor)), ElementsAre(name));
    }
  }
}

TEST(Gradients, WithAWrongSignAreCaughtInEverySegment) { expect_caught_in_every_segment(-1); }

// Plants the fault of a mean over tokens, patches or images that is taken for a sum.
TEST(Gradients, WithAFactorTooManyAreCaughtInEverySegment) { expect_caught_in_every_segment(2); }

// A term of every sum over the batch: the last image.
TEST(Gradients, WithoutATermAreCaughtInEverySegment) {
  const Fault without_last = [](const Network& network, Numbers& gradient) {
    const Images images(network, 2);
    const Numbers p = initial(network);
    const auto model = reference_model<double>(network);
    Numbers logit_gradient(classes);
    const Batch first{images.pixels.data(), images.labels.data(), 1};
    cross_entropy(model->forward(p.data(), first), first.labels, 1, 2, logit_gradient.data());
    model->backward(p.data(), logit_gradient.data(), gradient.data());
  };
  for (const Network& network : {small_classifier, small_transformer}) {
    EXPECT_EQ(Compared(network, 2).wrong_segments(without_last).size(), Segments(network).all().size());
  }
}

// Loss and gradients in single precision, in the order of the reference, against the bounds.
TEST(RoundedModel, BoundsTheReferenceInSinglePrecision) {
  for (const Network& network : {small_classifier, small_transformer}) {
    const Images images(network, 3);
    const auto computed = [&]<class Real>(Real) {
      const auto p = initial<Real>(network);
      std::vector<Real> gradient(p.size()), logit_gradient(3 * classes);
      const auto model = reference_model<Real>(network);
      const Real* logits = model->forward(p.data(), images.batch());
      gradient.push_back(cross_entropy(logits, images.labels.data(), 3, 3, logit_gradient.data()));
      model->backward(p.data(), logit_gradient.data(), gradient.data());
      return gradient;
    };
    const auto bounds = computed(Rounded());
    const auto single = computed(float{});
    const auto twice = computed(double{});
    double squares = 0;
    for (const double g : twice) squares += g * g;
    const double size = std::sqrt(squares / static_cast<double>(twice.size()));
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      EXPECT_EQ(bounds[i].value, twice[i]) << i;
      EXPECT_LE(std::abs(static_cast<double>(single[i]) - twice[i]), bounds[i].bound()) << i;
      EXPECT_LE(bounds[i].bound(), 1e-3 * size) << i;
    }
  }
}

TEST(Models, TakeBatchesOfAnotherSizeInBetween) {
  for (const Network& network : {small_classifier, small_transformer}) {
    const Images images(network, 3);
    const Numbers p = initial(network);
    const auto model = reference_model<double>(network), fresh = reference_model<double>(network);
    const Batch part{images.pixels.data(), images.labels.data(), 2};
    model->forward(p.data(), images.batch());
    const double* logits = model->forward(p.data(), part);
    const double* wanted = fresh->forward(p.data(), part);
    EXPECT_TRUE(std::equal(logits, logits + 2 * classes, wanted));
  }
}

}  // namespace
}  // namespace assay::training::model_test
