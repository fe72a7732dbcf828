// A depth-first search for a plan no higher than a target.
//
// In any plan, blocks can be pushed down until each stands on the bottom or on another, and then be placed
// anew in order of offset. So the search considers only such plans: the next block goes on top of the blocks
// placed in its time, not below the one before it, and not where a third would fit beneath it. A branch ends
// as soon as a section has more to place than there is room above the lowest place of one of its blocks. Sets
// of blocks that no block connects in time any more are searched apart.
//
// The ideas are from Moffitt, MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine
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

  /// For lists of at most `most` blocks. Memory grows with the square of `most`, the stack with `most`.
  explicit Search(Index most);

  /// Searches for a plan of at most `target` units for blocks that are connected in time. Among candidates at
  /// one offset, tries the least rank first; ranks are distinct. A step is a look at a block.
  Outcome run(const Lives& lives, std::span<const std::int32_t> ranks, Index target, Index most_steps);

  /// The offset of each block, if a plan was found.
  std::span<const Index> offsets() const { return {offsets_.begin(), offsets_.end()}; }
  /// How often each section had no room left.
  std::span<const Index> blamed() const { return blamed_; }
  /// The steps of the last run.
  Index steps() const { return steps_; }

 private:
  using Position = std::int32_t;
  static constexpr Position none = -1;

  /// The blocks to be placed that are connected in time, in the list from first to last.
  struct Part {
    Position first, last;
    Index ceiling;  ///< from here on a block leaves room for another beneath it
  };
  struct Candidate {
    Index offset;
    std::int32_t rank;
    Position block;
  };
  /// The progress of a branch: blocks are placed in order of offset, then of rank.
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
  /// Notes the parts of a list and returns whether each may have a plan.
  bool divide(Position first, Position last, Level level);
  bool has_room(const Part& part, std::int32_t begin, std::int32_t end);
  /// Whether a block needs another one beneath it first.
  bool waits(Position b, Level level) const;
  bool place(const Part& part, const Candidate& next);
  bool raise(Position first, Position end, const Candidate& under);
  void unlink(Position b);
  void relink(Position b);

  const Life* blocks_ = nullptr;
  const std::int32_t* ranks_ = nullptr;
  Index target_ = 0, steps_ = 0, most_steps_ = 0;
  Buffer<Position> next_, previous_;  ///< among blocks to be placed, in order of start
  Buffer<Index> offsets_;             ///< for those: the top of the blocks placed in their time
  Buffer<Index> left_;                ///< units to be placed in each section
  Buffer<Index> lowest_;              ///< least offset of a block to be placed in each section
  std::vector<Index> blamed_;
  std::vector<Position> placed_;  ///< in order
  std::vector<Raised> raised_;
  std::vector<Candidate> candidates_;
  std::vector<Part> parts_;
};

}  // namespace assay::memory_pool
