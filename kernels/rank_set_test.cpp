#include "rank_set.hpp"

#include "assay/random.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

TEST(RankSet, TakesTheLowestOfWhatIsIn) {
  RankSet ready(300);
  for (const std::size_t rank : {299U, 64U, 63U, 128U}) ready.insert(rank);
  EXPECT_EQ(ready.take_first(), 63U);
  ready.insert(0);
  EXPECT_EQ(ready.take_first(), 0U);
  EXPECT_EQ(ready.take_first(), 64U);
  EXPECT_EQ(ready.take_first(), 128U);
  EXPECT_FALSE(ready.empty());
  EXPECT_EQ(ready.take_first(), 299U);
  EXPECT_TRUE(ready.empty());
}

// 1, 2 and 4 levels, each full and one more.
TEST(RankSet, DoesAsAnOrderedSetDoes) {
  for (const Index ranks : {1, 64, 65, 4096, 4097, 300000}) {
    RankSet ready(ranks);
    std::set<std::size_t> want;
    Rng rng(42);
    for (int step = 0; step < 20000; ++step) {
      const auto rank = static_cast<std::size_t>(rng.integer(0, ranks - 1));
      if (rng.integer(0, 1) == 0 && !want.contains(rank)) {
        want.insert(rank);
        ready.insert(rank);
      } else if (!want.empty()) {
        ASSERT_EQ(ready.take_first(), *want.begin()) << ranks << " ranks, step " << step;
        want.erase(want.begin());
      }
      ASSERT_EQ(ready.empty(), want.empty());
    }
    ready.reset(static_cast<std::size_t>(ranks));
    EXPECT_TRUE(ready.empty());
  }
}

}  // namespace
}  // namespace assay
