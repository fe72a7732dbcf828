#include "bench/measure/sides.hpp"

#include "assay/random.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

TEST(Draws, AreTheSameForTheSameRunAndOthersForEachLaunchAndSeed) {
  EXPECT_EQ(draw_of(42, 0), Rng(42).next());
  EXPECT_EQ(draw_of(42, 2), Rng(42 + 2 * 1000003).next()) << "recorded runs are repeated by these";
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : {1U, 2U, 42U}) {
    for (int launch = 0; launch < 150; ++launch) seen.insert(draw_of(seed, launch));
  }
  EXPECT_EQ(seen.size(), 3U * 150);
}

}  // namespace
}  // namespace assay
