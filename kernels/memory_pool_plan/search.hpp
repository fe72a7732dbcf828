// A depth-first search for a plan no higher than a target.
//
// In any plan, blocks can be pushed down until each stands on the bottom or on another, and then be placed
// anew in order of offset. So no other plans are looked for: the next block goes on top of those that were
// placed in its time, not below the one before it, and not where a third would fit beneath it. A branch ends
// as soon as some section has more to place than there is room above the lowest place of one of its blocks.
// What no block connects in time any more is searched apart.
//
// The ideas are those of Moffitt, MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine
// Learning, ASPLOS 2023.
#pragma once

#include "memory_pool_plan/lives.hpp"

#include "assay/buffer.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::memory_pool {

class Search {
 public:
  enum class Outcome { found, impossible, out_of_steps };

  /// For lists of at most `most` blocks. Memory grows with the square of it, and the stack with it.
  explicit Search(Index most);

  /// Looks for a plan of at most `target` units of blocks that are connected in time. Of those that can come
  /// next at one offset, the one of the least rank is tried first; ranks are all different. A step is a look
  /// at a block.
  Outcome run(const Lives& lives, std::span<const std::int32_t> ranks, Index target, Index most_steps);

  // Of the last run.

  /// Where each block starts, if a plan was found.
  std::span<const Index> offsets() const { return {offsets_.begin(), offsets_.end()}; }
  /// How often each section had no room left.
  std::span<const Index> blamed() const { return blamed_; }
  Index steps() const { return steps_; }

 private:
  using Position = std::int32_t;
  static constexpr Position none = -1;

  /// Blocks to be placed that are connected in time, in the list from first to last.
  struct Part {
    Position first, last;
    Index ceiling;  ///< where a block leaves room for another beneath it
  };
  struct Candidate {
    Index offset;
    std::int32_t rank;
    Position block;
  };
  /// Blocks are placed in order of offset, and of rank at one offset: this is how far they have come.
  struct Level {
    Index offset;
    std::int32_t rank;
  };
  struct Raised {
    Position block;
    Index before;
  };

  bool solve(Position first, Position last, Level level);
  bool solve(const Part& part, Level level);
  /// Notes the parts of a list, and returns whether each may have a plan.
  bool divide(Position first, Position last, Level level);
  bool has_room(const Part& part, std::int32_t begin, std::int32_t end);
  /// Whether a block can only be placed when another has come beneath it.
  bool waits(Position b, Level level) const;
  bool place(const Part& part, const Candidate& next);
  bool raise(Position first, Position end, const Candidate& under);
  void unlink(Position b);
  void relink(Position b);

  const Life* blocks_ = nullptr;
  const std::int32_t* ranks_ = nullptr;
  Index target_ = 0, steps_ = 0, most_steps_ = 0;
  Buffer<Position> next_, previous_;  ///< among blocks to be placed, in order of start
  Buffer<Index> offsets_;             ///< of those: the top of what was placed in their time
  Buffer<Index> left_;                ///< units to be placed in each section
  Buffer<Index> lowest_;              ///< least offset of a block to be placed in each section
  std::vector<Index> blamed_;
  std::vector<Position> placed_;  ///< in order
  std::vector<Raised> raised_;
  std::vector<Candidate> candidates_;
  std::vector<Part> parts_;
};

}  // namespace assay::memory_pool
