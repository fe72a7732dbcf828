#include "memory_pool_plan/search.hpp"

#include "assay/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace assay::memory_pool::search_test {
namespace {

constexpr Index many_steps = 1'000'000;

/// Short lists that are connected in time. With their sizes the least height often exceeds the bytes alive.
std::vector<Request> drawn(Rng& rng, Index blocks) {
  std::vector<Request> out{{64, 0, 9}};
  while (static_cast<Index>(out.size()) < blocks) {
    const Index start = rng.integer(0, 8);
    out.push_back({64 * rng.integer(1, 4), start, rng.integer(start + 1, 9)});
  }
  return out;
}

/// The least height over all orders of stacking blocks. In order of offset, stacking rebuilds any plan with
/// each block where it was or lower.
Index least_of_all_orders(const Lives& lives) {
  std::vector<std::size_t> order(lives.blocks.size());
  std::iota(order.begin(), order.end(), 0U);
  Index least = std::numeric_limits<Index>::max();
  do {
    std::vector<Index> tops(lives.live.size());
    for (const std::size_t b : order) {
      const auto [units, first, last] = lives.blocks[b];
      const Index top = units + *std::max_element(tops.begin() + first, tops.begin() + last);
      std::fill(tops.begin() + first, tops.begin() + last, top);
    }
    least = std::min(least, *std::ranges::max_element(tops));
  } while (std::ranges::next_permutation(order).found);
  return least;
}

std::vector<std::int32_t> ranks_of(const Lives& lives, Rng& rng) {
  std::vector<std::int32_t> out(lives.blocks.size());
  std::iota(out.begin(), out.end(), 0);
  for (std::size_t i = out.size(); i > 1; --i) {
    std::swap(out[i - 1], out[static_cast<std::size_t>(rng.integer(0, static_cast<Index>(i) - 1))]);
  }
  return out;
}

/// Expects a plan of the least height and no lower one.
void expect_least(const std::vector<Request>& requests, Index least, std::span<const std::int32_t> ranks) {
  const auto count = static_cast<Index>(requests.size());
  Parts parts(count);
  parts.read(requests);
  Search search(count);
  EXPECT_EQ(search.run(parts.lives(0), ranks, least - 1, many_steps), Search::Outcome::impossible);
  ASSERT_EQ(search.run(parts.lives(0), ranks, least, many_steps), Search::Outcome::found);
  std::vector<Request> in_order;
  std::vector<Index> offsets;
  for (std::size_t b = 0; b < requests.size(); ++b) {
    in_order.push_back(requests[static_cast<std::size_t>(parts.requests(0)[b])]);
    offsets.push_back(search.offsets()[b] * alignment);
  }
  EXPECT_FALSE(fault(Plan{in_order, offsets, least * alignment}));
}

TEST(Search, FindsAPlanWhereThereIsOneAndElseSaysThatThereIsNone) {
  Rng rng(5);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE("seed 5, round " + std::to_string(round));
    const std::vector<Request> requests = drawn(rng, 7);
    Parts parts(7);
    parts.read(requests);
    expect_least(requests, least_of_all_orders(parts.lives(0)), ranks_of(parts.lives(0), rng));
  }
}

TEST(Search, SaysThatMoreIsNeededThanIsAliveAtOnce) {
  // At most 9 units are alive, and all 40,320 orders take 10.
  const std::vector<Request> requests{{128, 3, 6}, {128, 4, 7}, {256, 0, 2}, {256, 6, 7},
                                      {320, 1, 3}, {192, 2, 6}, {64, 2, 4},  {128, 5, 7}};
  Parts parts(8);
  parts.read(requests);
  EXPECT_EQ(parts.least(0), 9);
  ASSERT_EQ(least_of_all_orders(parts.lives(0)), 10);
  Rng rng(9);
  for (int round = 0; round < 5; ++round) expect_least(requests, 10, ranks_of(parts.lives(0), rng));
}

TEST(Search, StopsWhenItsStepsAreUsedUp) {
  Rng rng(6);
  const std::vector<Request> requests = drawn(rng, 40);
  Parts parts(40);
  parts.read(requests);
  Search search(40);
  const auto ranks = ranks_of(parts.lives(0), rng);
  EXPECT_EQ(search.run(parts.lives(0), ranks, parts.least(0), 30), Search::Outcome::out_of_steps);
  EXPECT_LE(search.steps(), 30 + 40) << "one look at all blocks is not interrupted";
}

}  // namespace
}  // namespace assay::memory_pool::search_test
