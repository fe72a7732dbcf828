// Problems of several blocks, for which corner cases are too short, and scores that grow or fall from block
// to block, so that sums are rescaled often, once or never.

#include "attention/tiles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace assay::attention {
namespace {

/// Scores of row i change by about `slope` from each key to the next, with the sign of an alternating row.
Attention::Input sloping(const Attention::Problem& p, float slope, Setting& setting) {
  Attention::Input in = Attention::make_input(p, setting);
  const auto root = std::sqrt(static_cast<float>(p.d));
  for (Index row = 0; row < p.heads * p.tokens; ++row) {
    in.q[row * p.d] = row % 3 == 0 ? -root : root;
    in.k[row * p.d] = slope * static_cast<float>(row % p.tokens);
  }
  return in;
}

void expect_agreement(const Attention::Problem& p, float slope) {
  Setting setting{.fill = Fill::uniform, .rng = Rng(42), .placement = {.skew = 1}};
  const Attention::Input in = sloping(p, slope, setting);
  const Attention::Expected want = Attention::expect(p, in, setting);
  for (const Tier& tier : tiers()) {
    if (tier.unfit) continue;
    // A second-level cache of 64 KiB makes blocks of few rows; one of 4 MiB, of all.
    for (const double cache : {65536.0, 4194304.0}) {
      Attention::Output out = Attention::make_output(p, in, setting);
      run_online(tier, p, cache)(in, out);
      const Agreement agreement = Attention::judge(p, in, want, out);
      EXPECT_TRUE(agreement.agrees) << tier.name << ", cache " << cache << ", slope " << slope << ", mask "
                                    << p.mask << ", d " << p.d << ", seed 42: " << agreement.detail;
    }
  }
}

TEST(OnlineAttention, AgreesWhereTheLargestScoreGrowsOrFallsFromBlockToBlock) {
  for (const Index mask : {0, 1}) {
    for (const Index d : {3, 16}) {
      for (const float slope : {0.0F, 0.001F, 0.05F}) {
        expect_agreement({.heads = 1, .tokens = 1061, .d = d, .mask = mask, .padding = 3}, slope);
      }
    }
  }
}

TEST(OnlineAttention, AgreesAroundTheEndOfABlock) {
  for (const Index tokens : {503, 504, 511, 512, 513, 1025}) {
    for (const Index mask : {0, 1})
      expect_agreement({.heads = 1, .tokens = tokens, .d = 5, .mask = mask}, 0.03F);
  }
}

}  // namespace
}  // namespace assay::attention
