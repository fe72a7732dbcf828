// A plan in one pass over time: each block goes into a gap beside the block whose end is nearest to its own.
//
// Gaps below a target height are filled from both of their ends, so blocks that end together free adjacent
// bytes. For nested lives that is a stack, and gradients that wait for their global norm hang from the top of
// the pool while activations grow from below.
#pragma once

#include "memory_pool_plan/lives.hpp"

#include "assay/buffer.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::memory_pool {

class MatchedEnds {
 public:
  enum class Direction { forward, backward };
  enum class First { nearest_end, smallest_gap };

  /// For lists of at most `most` blocks.
  explicit MatchedEnds(Index most);

  /// Places every block, above the target if there is no gap below it, and returns the height in units. Among
  /// gaps that fit, takes the best one by `first`, and among equal ones the best by the other criterion.
  Index place(const Lives& lives, Index target, Direction direction, First first);

  /// The offset of each block.
  std::span<const Index> offsets() const { return {lower_.begin(), lower_.end()}; }

 private:
  using Position = std::int32_t;
  struct Choice {
    Position below;  ///< the block under the gap
    bool hanging;    ///< from the block above it
  };

  void sort(const Lives& lives, Direction direction);
  Choice best_gap(Position block, Index units, First first) const;
  void insert(Position block, Position below, Index lower, Index units);
  void remove(Position block);
  void note_gap(Position below);
  void forget_gap(Position below);
  Index gap(Position below) const;

  Position bottom_ = 0, top_ = 0;  ///< stand for the ends of the pool
  Buffer<Position> by_start_, by_end_;
  Buffer<Position> above_, below_;  ///< neighbours among the blocks alive
  Buffer<Position> place_;          ///< position in gaps_
  Buffer<Index> lower_, upper_;
  Buffer<std::int32_t> start_, end_;
  std::vector<Position> gaps_;  ///< blocks with a gap above them, in no order
};

}  // namespace assay::memory_pool
