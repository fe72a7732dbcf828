#include "checkpointing/segments.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::checkpointing::segments_test {
namespace {

// Nine layers make three segments: the activations before layers 3 and 6 are kept, and two inside a segment.
TEST(Segments, OfNineLayersKeepFourActivations) {
  EXPECT_EQ(Segments(9).length, 3);
  EXPECT_EQ(Segments(9).count(), 3);
  EXPECT_EQ(Segments(9).kept(), 4);
}

TEST(Segments, OfOneLayerKeepNothing) { EXPECT_EQ(Segments(1).kept(), 0); }

TEST(Segments, KeepAtMostTwiceTheRootOfTheLayers) {
  for (Index layers = 4; layers <= 64; ++layers) {
    const Segments segments(layers);
    EXPECT_LE(static_cast<double>(segments.kept()), 2 * std::sqrt(static_cast<double>(layers))) << layers;
    EXPECT_LT(segments.kept(), layers) << layers;
  }
}

}  // namespace
}  // namespace assay::checkpointing::segments_test
