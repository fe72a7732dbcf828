// A plan in a given order: each block in the lowest gap of its time.
//
// Finds blocks that live at the same time by classes of lives; lives in a class are at most twice as long as
// one another. In each class, only some of the blocks that start before have not ended.
#pragma once

#include "memory_pool_plan/lives.hpp"

#include "assay/buffer.hpp"

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace assay::memory_pool {

class OrderedFit {
 public:
  /// For lists of at most `most` blocks.
  explicit OrderedFit(Index most);

  /// Returns the height in units, or nothing if it would exceed `target` or the steps. A step is a look at a
  /// block; a block placed in the time of another is looked at twice.
  std::optional<Index> place(const Lives& lives, std::span<const std::size_t> order, Index target,
                             Index most_steps);

  /// The offset of each block, if there is a plan.
  std::span<const Index> offsets() const { return {offsets_.begin(), offsets_.end()}; }
  /// The steps of the last call.
  Index steps() const { return steps_; }

 private:
  void classify(const Lives& lives);
  void look_beside(const Lives& lives, const Life& life);
  Index lowest_gap(Index units) const;

  static constexpr std::size_t classes = 32;  // a length of k bits is in class k

  Index steps_ = 0;
  Buffer<Index> offsets_;
  std::vector<std::size_t> members_;  ///< class by class, in order of start
  std::array<std::size_t, classes + 1> begins_{};
  std::vector<std::pair<Index, Index>> beside_;  ///< both ends of blocks placed in the time of a block
};

}  // namespace assay::memory_pool
