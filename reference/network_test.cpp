#include "assay/ops/network.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::training::network_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr Network classifier{.kind = Kind::classifier, .channels = 3, .side = 8, .width = 4};
constexpr Network transformer{
    .kind = Kind::transformer, .channels = 1, .side = 8, .width = 8, .patch = 4, .heads = 2};

std::vector<Index> counts(const Network& network) {
  std::vector<Index> out;
  for (const Segment& segment : Segments(network).all()) out.push_back(segment.count);
  return out;
}

TEST(Network, CountsTheParametersOfTheClassifier) {
  // 4 filters of 3 x 9, 8 of 4 x 9, 8 planes of 4 x 4 pixels to 10 classes; a bias for each output.
  EXPECT_THAT(counts(classifier), ElementsAre(108, 4, 288, 8, 1280, 10));
  EXPECT_EQ(Segments(classifier).total(), 1698);
}

TEST(Network, CountsTheParametersOfTheTransformer) {
  // Four patches of 16 pixels to width 8: embedding 128, positions 32; norms 8 + 8; 8 x 24; 8 x 8 + 8;
  // 8 x 32 + 32; 32 x 8 + 8; 8 x 10 + 10.
  EXPECT_THAT(counts(transformer), ElementsAre(128, 32, 8, 8, 192, 64, 8, 8, 8, 256, 32, 256, 8, 80, 10));
  EXPECT_EQ(Segments(transformer).total(), 1098);
}

TEST(Network, LeavesNoGapsBetweenSegments) {
  for (const Network& network : {classifier, transformer}) {
    Index next = 0;
    for (const Segment& segment : Segments(network).all()) {
      EXPECT_EQ(segment.begin, next) << segment.name;
      Index product = 1;
      for (const Index extent : segment.extents) product *= extent;
      EXPECT_EQ(segment.count, product) << segment.name;
      next += segment.count;
    }
  }
}

TEST(Network, FindsASegmentByItsName) {
  const std::vector<float> vector(1698);
  EXPECT_EQ(Segments(classifier).in(vector.data(), "conv2.weight"), vector.data() + 112);
}

TEST(Network, CountsTheMultiplyAddsOfItsProducts) {
  // 9 * 3 * 4 * 64 = 6,912, 9 * 4 * 8 * 16 = 4,608 and 1,280; backward twice that, less the gradient of the
  // pixels.
  EXPECT_EQ(forward_multiply_adds(classifier), 12800);
  EXPECT_EQ(backward_multiply_adds(classifier), 25600 - 6912);
  // 4 tokens: 16 * 8, then 12 * 64 and scores of 4 keys by 8 numbers twice; 80 at the end.
  EXPECT_EQ(forward_multiply_adds(transformer), 4 * (128 + 768 + 64) + 80);
  EXPECT_EQ(backward_multiply_adds(transformer), 2 * 3920 - 512);
}

TEST(Network, RefusesPatchesAndHeadsThatDoNotDivide) {
  Network network = transformer;
  network.patch = 3;
  EXPECT_THAT([&] { Segments{network}; }, ThrowsMessage<Error>(HasSubstr("patch=3: does not divide side=8")));
  network = transformer;
  network.heads = 3;
  EXPECT_THAT([&] { Segments{network}; },
              ThrowsMessage<Error>(HasSubstr("heads=3: does not divide width=8")));
}

TEST(Network, StartsFromWeightsOfUnitGainAndScalesOfOne) {
  std::vector<float> p(1098);
  Rng rng(1);
  initialize(transformer, rng, p);
  for (const Segment& segment : Segments(transformer).all()) {
    double sum = 0, squares = 0;
    for (Index i = segment.begin; i < segment.begin + segment.count; ++i) {
      const double x = p[static_cast<std::size_t>(i)];
      EXPECT_NE(x, 0) << segment.name;
      sum += x;
      squares += x * x;
    }
    const auto count = static_cast<double>(segment.count);
    if (segment.name == "norm1.gamma") {
      EXPECT_NEAR(sum / count, 1, 0.1);
    }
    if (segment.name == "norm1.beta") {
      EXPECT_NEAR(sum / count, 0, 0.1);
    }
    // 16 and 8 inputs; the sample's own spread is about 1 / sqrt(count).
    if (segment.name == "embed.weight") {
      EXPECT_NEAR(squares / count, 1.0 / 16, 0.25 / 16);
    }
    if (segment.name == "attention.weight") {
      EXPECT_NEAR(squares / count, 1.0 / 8, 0.25 / 8);
    }
  }
}

}  // namespace
}  // namespace assay::training::network_test
