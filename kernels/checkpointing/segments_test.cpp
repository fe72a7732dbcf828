#include "checkpointing/segments.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::checkpointing::segments_test {
namespace {

// Nine layers make three segments: the activations before layers 3 and 6 are kept, and two inside a segment.
// Six forward steps lead to the last segment, and two recompute the inside of each: 12 steps, where keeping
// all takes 8.
TEST(Segments, OfNineLayersKeepFourActivationsAndTakeTwelveSteps) {
  EXPECT_EQ(Segments(9).length, 3);
  EXPECT_EQ(Segments(9).count(), 3);
  EXPECT_EQ(Segments(9).kept(), 4);
  EXPECT_EQ(Segments(9).forward_steps(), 12);
}

TEST(Segments, OfOneLayerKeepAndMakeNothing) {
  EXPECT_EQ(Segments(1).kept(), 0);
  EXPECT_EQ(Segments(1).forward_steps(), 0);
}

// Memory is traded for time: the saving costs more than nothing and less than another forward pass.
TEST(Segments, TradeMemoryForLessThanAForwardPass) {
  for (Index layers = 4; layers <= 64; ++layers) {
    const Segments segments(layers);
    EXPECT_LE(static_cast<double>(segments.kept()), 2 * std::sqrt(static_cast<double>(layers))) << layers;
    EXPECT_LT(segments.kept(), layers) << layers;
    EXPECT_GT(segments.forward_steps(), layers - 1) << layers << ": memory saved for no time";
    EXPECT_LT(segments.forward_steps(), 2 * layers) << layers;
  }
}

}  // namespace
}  // namespace assay::checkpointing::segments_test
