// A plan in a given order: each block in the lowest gap of its time.
//
// Finds blocks that live at the same time by classes of lives; lives in a class are at most twice as long as
// one another. In each class, only some of the blocks that start before have not ended.
#pragma once

#include "memory_pool_plan/lives.hpp"

#include "assay/buffer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace assay::memory_pool {

class OrderedFit {
 public:
  /// For lists of at most `most` blocks.
  explicit OrderedFit(Index most) : offsets_(most), members_(static_cast<std::size_t>(most)) {
    beside_.reserve(members_.size());
  }

  /// Returns the height in units, or nothing if it would exceed `target` or the steps. A step is a look at a
  /// block; a block placed in the time of another is looked at twice.
  std::optional<Index> place(const Lives& lives, std::span<const std::size_t> order, Index target,
                             Index most_steps) {
    steps_ = 0;
    classify(lives);
    std::fill_n(offsets_.begin(), order.size(), not_placed);
    Index height = 0;
    for (const std::size_t block : order) {
      const Life& life = lives.blocks[block];
      look_beside(lives, life);
      const Index offset = lowest_gap(life.units);
      height = std::max(height, offset + life.units);
      if (height > target || steps_ > most_steps) return std::nullopt;
      offsets_[static_cast<Index>(block)] = offset;
    }
    return height;
  }

  /// The offset of each block, if there is a plan.
  std::span<const Index> offsets() const { return {offsets_.begin(), offsets_.end()}; }
  Index steps() const { return steps_; }

 private:
  static constexpr Index not_placed = -1;

  void classify(const Lives& lives) {
    const auto class_of = [&](std::size_t block) {
      const Life& life = lives.blocks[block];
      return static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(life.last - life.first)));
    };
    begins_ = {};
    for (std::size_t b = 0; b < lives.blocks.size(); ++b) ++begins_[class_of(b) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    auto next = begins_;
    for (std::size_t b = 0; b < lives.blocks.size(); ++b) members_[next[class_of(b)]++] = b;
  }

  void look_beside(const Lives& lives, const Life& life) {
    beside_.clear();
    for (std::size_t k = 0; k < classes; ++k) {
      const auto members = std::span(members_).subspan(begins_[k], begins_[k + 1] - begins_[k]);
      const auto ended = [&](std::size_t b) { return lives.blocks[b].first + (Index{1} << k) <= life.first; };
      for (auto at = std::ranges::partition_point(members, ended); at != members.end(); ++at) {
        const Life& other = lives.blocks[*at];
        if (other.first >= life.last) break;
        ++steps_;
        const Index offset = offsets_[static_cast<Index>(*at)];
        if (offset != not_placed && other.last > life.first)
          beside_.emplace_back(offset, offset + other.units);
      }
    }
    std::ranges::sort(beside_);
    steps_ += static_cast<Index>(beside_.size());
  }

  Index lowest_gap(Index units) const {
    Index offset = 0;
    for (const auto& [lower, upper] : beside_) {
      if (lower - offset >= units) break;
      offset = std::max(offset, upper);
    }
    return offset;
  }

  static constexpr std::size_t classes = 32;  // a length of k bits is in class k

  Index steps_ = 0;
  Buffer<Index> offsets_;
  std::vector<std::size_t> members_;  ///< class by class, in order of start
  std::array<std::size_t, classes + 1> begins_{};
  std::vector<std::pair<Index, Index>> beside_;  ///< both ends of blocks placed in the time of a block
};

}  // namespace assay::memory_pool
