#include "memory_pool_plan/ordered_fit.hpp"

#include "assay/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

namespace assay::memory_pool::ordered_fit_test {
namespace {

using ::testing::ElementsAre;

constexpr Index many = 1'000'000;

TEST(OrderedFit, PutsBlocksInTheLowestGapInTheOrderGiven) {
  // The second and the third leave a gap of one unit between the first and the third once the second has
  // ended.
  const std::vector<Request> requests{{128, 0, 9}, {64, 1, 3}, {192, 2, 9}, {64, 4, 9}, {128, 5, 9}};
  Parts parts(5);
  parts.read(requests);
  OrderedFit fit(5);
  std::vector<std::size_t> order{0, 1, 2, 3, 4};
  EXPECT_EQ(fit.place(parts.lives(0), order, many, many), 8);
  EXPECT_THAT(fit.offsets(), ElementsAre(0, 2, 3, 2, 6));
  EXPECT_EQ(fit.place(parts.lives(0), order, 7, many), std::nullopt) << "a target that is missed";
  EXPECT_EQ(fit.place(parts.lives(0), order, many, 5), std::nullopt) << "too few steps";
  order = {4, 3, 2, 1, 0};
  EXPECT_EQ(fit.place(parts.lives(0), order, many, many), 8);
  EXPECT_THAT(fit.offsets(), ElementsAre(6, 0, 3, 2, 0));
}

TEST(OrderedFit, OverlapsNothingInAnyOrderOfLivesOfAnyLength) {
  Rng rng(4);
  constexpr std::size_t blocks = 120;
  OrderedFit fit(blocks);
  Parts parts(blocks);
  for (int round = 0; round < 50; ++round) {
    std::vector<Request> requests{{64, 0, 1000}};
    while (requests.size() < blocks) {
      const Index start = rng.integer(0, 990), longest = Index{1} << rng.integer(0, 9);
      requests.push_back(
          {rng.integer(1, 999), start, std::min(start + rng.integer(1, longest), Index{1000})});
    }
    parts.read(requests);
    std::vector<std::size_t> order(blocks);
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = blocks; i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<std::size_t>(rng.integer(0, static_cast<Index>(i) - 1))]);
    }
    const auto height = fit.place(parts.lives(0), order, many, many);
    ASSERT_TRUE(height);
    std::vector<Request> in_order;
    std::vector<Index> offsets;
    for (std::size_t b = 0; b < blocks; ++b) {
      in_order.push_back(requests[static_cast<std::size_t>(parts.requests(0)[b])]);
      offsets.push_back(fit.offsets()[b] * alignment);
    }
    EXPECT_FALSE(fault(Plan{in_order, offsets, *height * alignment})) << "seed 4, round " << round;
  }
}

}  // namespace
}  // namespace assay::memory_pool::ordered_fit_test
