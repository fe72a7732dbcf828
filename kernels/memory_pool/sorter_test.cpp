#include "memory_pool/sorter.hpp"

#include "assay/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace assay::memory_pool {
namespace {

/// Positions sorted by keys of `bits` random bits, by the sorter and by the standard library.
template <class Number>
void expect_sorted(Index count, int bits, Rng& rng, Sorter<Number>& sorter) {
  std::vector<Number> keys(static_cast<std::size_t>(count));
  for (Number& key : keys) key = static_cast<Number>(rng.next() >> (64 - bits));
  std::vector<Number> want(keys.size()), got;
  for (std::size_t i = 0; i < want.size(); ++i) want[i] = static_cast<Number>(i);
  std::ranges::stable_sort(want, {}, [&](Number i) { return keys[static_cast<std::size_t>(i)]; });
  for (const auto& item : sorter.sorted(count, [&](Index i) { return keys[static_cast<std::size_t>(i)]; })) {
    EXPECT_EQ(item.key, keys[static_cast<std::size_t>(item.position)]);
    got.push_back(item.position);
  }
  EXPECT_EQ(got, want) << count << " keys of " << bits << " bits";
}

TEST(Sorter, SortsAnyNumberOfKeysOfAnyWidthAndKeepsEqualOnesInOrder) {
  Rng rng(11);
  Sorter<std::uint32_t> narrow(5000);
  Sorter<std::uint64_t> wide(5000);
  for (const Index count : {0, 1, 2, 63, 64, 65, 66, 255, 1000, 5000}) {
    for (const int bits : {1, 5, 11, 12, 23, 32}) expect_sorted(count, bits, rng, narrow);
    for (const int bits : {1, 33, 47, 63, 64}) expect_sorted(count, bits, rng, wide);
  }
}

TEST(Sorter, TakesKeysThatAreAllZero) {
  Sorter<std::uint32_t> sorter(100);
  Index next = 0;
  for (const auto& item : sorter.sorted(100, [](Index) { return 0U; })) EXPECT_EQ(item.position, next++);
  EXPECT_EQ(next, 100);
}

}  // namespace
}  // namespace assay::memory_pool
