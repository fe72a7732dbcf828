// An ordered set of numbers below a limit: a bit per number, above every 64 bits a bit that says whether any
// is set, and so on up to a single word. A call takes a word or two per level, and 64^4 numbers need four
// levels.
#pragma once

#include "assay/problem.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace assay {

class RankSet {
 public:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  explicit RankSet(Index most) {
    std::size_t words = static_cast<std::size_t>(most);
    do {
      words = (words + 63) / 64;
      levels_.emplace_back(words);
    } while (words > 1);
  }

  /// Empties it, for ranks below `count`.
  void reset(std::size_t count) {
    for (auto& level : levels_) {
      count = (count + 63) / 64;
      std::fill_n(level.begin(), count, 0U);
    }
  }

  bool empty() const { return levels_.back()[0] == 0; }

  void insert(std::size_t rank) {
    for (auto& level : levels_) {
      std::uint64_t& word = level[rank / 64];
      const bool known = word != 0;
      word |= std::uint64_t{1} << rank % 64;
      if (known) return;
      rank /= 64;
    }
  }

  void erase(std::size_t rank) {
    for (auto& level : levels_) {
      std::uint64_t& word = level[rank / 64];
      word &= ~(std::uint64_t{1} << rank % 64);
      if (word != 0) return;
      rank /= 64;
    }
  }

  /// Removes and returns the smallest member. The set must not be empty.
  std::size_t take_first() {
    std::size_t first = 0;
    for (std::size_t level = levels_.size(); level-- > 0;) {
      first = first * 64 + static_cast<std::size_t>(std::countr_zero(levels_[level][first]));
    }
    std::size_t at = first;
    for (auto& level : levels_) {
      std::uint64_t& word = level[at / 64];
      word &= word - 1;  // the first rank is the lowest of its word on every level
      if (word != 0) break;
      at /= 64;
    }
    return first;
  }

  /// The smallest member above `rank`, or none.
  std::size_t above(std::size_t rank) const {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      const std::uint64_t rest = levels_[level][rank / 64] & (~std::uint64_t{1} << rank % 64);
      if (rest != 0) {
        std::size_t at = rank / 64 * 64 + static_cast<std::size_t>(std::countr_zero(rest));
        while (level-- > 0) at = at * 64 + static_cast<std::size_t>(std::countr_zero(levels_[level][at]));
        return at;
      }
      rank /= 64;
    }
    return none;
  }

  /// The largest member below `rank`, or none.
  std::size_t below(std::size_t rank) const {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      const std::uint64_t rest = levels_[level][rank / 64] & ((std::uint64_t{1} << rank % 64) - 1);
      if (rest != 0) {
        std::size_t at = rank / 64 * 64 + highest(rest);
        while (level-- > 0) at = at * 64 + highest(levels_[level][at]);
        return at;
      }
      rank /= 64;
    }
    return none;
  }

 private:
  static std::size_t highest(std::uint64_t word) {
    return 63 - static_cast<std::size_t>(std::countl_zero(word));
  }

  std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace assay
