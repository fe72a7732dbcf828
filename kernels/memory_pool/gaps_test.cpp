#include "memory_pool/gaps.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <vector>

namespace assay::memory_pool {
namespace {

TEST(Gaps, GiveTheLowestThatIsLargeEnough) {
  Gaps gaps(4);
  gaps.reset();
  EXPECT_EQ(gaps.take(10), 0);
  EXPECT_EQ(gaps.take(5), 10);
  EXPECT_EQ(gaps.take(20), 15);
  EXPECT_EQ(gaps.take(1), 35);
  gaps.release(10, 5);
  gaps.release(0, 10);  // joins the one above it: [0, 15)
  EXPECT_EQ(gaps.take(16), 36);
  EXPECT_EQ(gaps.take(15), 0);
  gaps.release(36, 16);  // joins the endless one
  EXPECT_EQ(gaps.take(100), 36);
}

/// The same answers from a look at every gap.
class PlainGaps {
 public:
  Index take(Index bytes) {
    for (auto gap = gaps_.begin();; ++gap) {
      const auto [offset, size] = *gap;
      if (size < bytes) continue;
      gaps_.erase(gap);
      if (size > bytes) gaps_.emplace(offset + bytes, size - bytes);
      return offset;
    }
  }
  void release(Index offset, Index bytes) {
    auto at = gaps_.emplace(offset, bytes).first;
    const auto above = std::next(at);
    if (above != gaps_.end() && offset + bytes == above->first) {
      at->second += above->second;
      gaps_.erase(above);
    }
    if (at == gaps_.begin()) return;
    const auto below = std::prev(at);
    if (below->first + below->second == offset) {
      below->second += at->second;
      gaps_.erase(at);
    }
  }

 private:
  std::map<Index, Index> gaps_{{0, Index{1} << 40}};
};

TEST(Gaps, DoAsAPlainListDoesInAnyOrderOfTakingAndReleasing) {
  Rng rng(17);
  constexpr Index most = 60;
  Gaps gaps(most);
  for (int round = 0; round < 50; ++round) {
    gaps.reset();
    PlainGaps plain;
    std::vector<std::pair<Index, Index>> taken;
    for (int step = 0; step < 400; ++step) {
      const auto count = static_cast<Index>(taken.size());
      if (count < most && (count == 0 || rng.integer(0, 9) < 5)) {
        const Index bytes = rng.integer(1, 12);
        const Index offset = gaps.take(bytes);
        ASSERT_EQ(offset, plain.take(bytes)) << "round " << round << " step " << step;
        taken.emplace_back(offset, bytes);
      } else {
        const auto at = taken.begin() + rng.integer(0, count - 1);
        gaps.release(at->first, at->second);
        plain.release(at->first, at->second);
        taken.erase(at);
      }
    }
  }
}

}  // namespace
}  // namespace assay::memory_pool
