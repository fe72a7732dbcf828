#include "assay/ops/data_loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace assay::shuffle_test {
namespace {

std::vector<Index> shuffled(Index samples, Shuffle shuffle, Index block, std::uint64_t seed = 3) {
  std::vector<Index> order(static_cast<std::size_t>(samples));
  Rng rng(seed);
  shuffle_into(order, shuffle, block, rng);
  return order;
}

std::vector<Index> counted(Index samples) {
  std::vector<Index> all(static_cast<std::size_t>(samples));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

TEST(Shuffle, IsAPermutationOfAnyLength) {
  for (const Index samples : {1, 2, 15, 16, 17, 127, 128, 129, 1000}) {
    for (const Shuffle shuffle : {Shuffle::full, Shuffle::blocks, Shuffle::none}) {
      for (const Index block : {1, 3, 16, 5000}) {
        std::vector<Index> order = shuffled(samples, shuffle, block);
        std::ranges::sort(order);
        EXPECT_EQ(order, counted(samples)) << samples << " in blocks of " << block;
      }
    }
  }
}

TEST(Shuffle, DependsOnTheSeedAlone) {
  EXPECT_EQ(shuffled(100, Shuffle::full, 1, 3), shuffled(100, Shuffle::full, 1, 3));
  EXPECT_NE(shuffled(100, Shuffle::full, 1, 3), shuffled(100, Shuffle::full, 1, 4));
}

TEST(Shuffle, OfBlocksReadsEightBlocksAtATime) {
  const std::vector<Index> order = shuffled(1600, Shuffle::blocks, 10);
  for (std::size_t group = 0; group < 1600; group += 80) {
    std::vector<Index> blocks;
    for (std::size_t at = group; at < group + 80; ++at) blocks.push_back(order[at] / 10);
    std::ranges::sort(blocks);
    EXPECT_EQ(std::unique(blocks.begin(), blocks.end()) - blocks.begin(), 8) << "samples from " << group;
  }
}

TEST(Mixing, IsAboutOneForAFullShuffle) {
  EXPECT_NEAR(mixing(shuffled(100'000, Shuffle::full, 1), 100), 1, 0.02);
  EXPECT_NEAR(mixing(shuffled(1000, Shuffle::full, 1), 100), 1, 0.05);
}

// 64 pieces of the file, of which an unshuffled batch meets one: 1 / (64 (1 - 1/e)) = 0.0247.
TEST(Mixing, IsSmallWithoutAShuffle) { EXPECT_NEAR(mixing(counted(64 * 1000), 1000 / 15), 0.0247, 0.008); }

// Eight blocks of one in 1000 pieces: 8 of 632 expected.
TEST(Mixing, CountsTheBlocksOfABlockShuffle) {
  EXPECT_NEAR(mixing(shuffled(1'000'000, Shuffle::blocks, 1000), 1000), 8 / 632.1, 0.005);
}

TEST(Mixing, IsDefinedAtTheBorders) {
  EXPECT_DOUBLE_EQ(mixing(counted(1), 1), 1);
  EXPECT_DOUBLE_EQ(mixing(counted(10), 1), 1);
  // A batch of everything meets every piece, however it is shuffled.
  EXPECT_DOUBLE_EQ(mixing(counted(10), 10), 1);
  EXPECT_DOUBLE_EQ(mixing(counted(10), 100), 1);
}

}  // namespace
}  // namespace assay::shuffle_test
