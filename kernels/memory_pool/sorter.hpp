// Sorts positions by a key without comparisons and allocations: a radix sort over the bits of the keys.
#pragma once

#include "assay/problem.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace assay::memory_pool {

/// A key and its position. Number is std::uint32_t if keys fit, which halves the bytes that a sort moves, or
/// std::uint64_t.
template <class Number>
struct Item {
  Number key, position;
};

template <class Number>
class Sorter {
 public:
  explicit Sorter(Index most) : items_(static_cast<std::size_t>(most)), others_(items_.size()) {}

  /// Returns the positions 0 <= i < count in order of key(i), equal keys in order of position. Valid until
  /// the next call.
  template <class Key>
  std::span<const Item<Number>> sorted(Index count, const Key& key) {
    Number all = 0;
    for (Index i = 0; i < count; ++i) {
      const Number next = key(i);
      all |= next;
      items_[static_cast<std::size_t>(i)] = {next, static_cast<Number>(i)};
    }
    if (count <= few) {
      sort_few(count);
    } else {
      sort_many(count, static_cast<int>(std::bit_width(all)));
    }
    return {items_.data(), static_cast<std::size_t>(count)};
  }

 private:
  /// The length up to which counters cost more than comparisons.
  static constexpr Index few = 64;
  static constexpr int widest_digit = 11;  // 2,048 counters of 4 bytes: a sixth of the smallest L1d

  void sort_few(Index count) {
    for (Index i = 1; i < count; ++i) {
      const Item<Number> next = items_[static_cast<std::size_t>(i)];
      Index at = i;
      for (; at > 0 && items_[static_cast<std::size_t>(at - 1)].key > next.key; --at) {
        items_[static_cast<std::size_t>(at)] = items_[static_cast<std::size_t>(at - 1)];
      }
      items_[static_cast<std::size_t>(at)] = next;
    }
  }

  /// The number of digits of equal width: as few as possible with no more counters per digit than items.
  void sort_many(Index count, int bits) {
    const int widest =
        std::clamp(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count))) - 2, 6, widest_digit);
    const int passes = (bits + widest - 1) / widest;
    for (int pass = 0; pass < passes; ++pass) {
      const int low = bits * pass / passes, high = bits * (pass + 1) / passes;
      scatter(count, low, high - low);
    }
  }

  void scatter(Index count, int shift, int width) {
    const Number mask = (Number{1} << width) - 1;
    std::fill_n(counters_.begin(), std::size_t{1} << width, 0U);
    const Item<Number>* from = items_.data();
    for (Index i = 0; i < count; ++i) ++counters_[(from[i].key >> shift) & mask];
    std::uint32_t before = 0;
    for (std::size_t digit = 0; digit <= mask; ++digit) before += std::exchange(counters_[digit], before);
    Item<Number>* to = others_.data();
    for (Index i = 0; i < count; ++i) to[counters_[(from[i].key >> shift) & mask]++] = from[i];
    items_.swap(others_);
  }

  std::vector<Item<Number>> items_, others_;
  std::array<std::uint32_t, std::size_t{1} << widest_digit> counters_{};
};

}  // namespace assay::memory_pool
