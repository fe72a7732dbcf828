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

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace assay::memory_pool {

class Search {
 public:
  enum class Outcome { found, impossible, out_of_steps };

  /// For lists of at most `most` blocks. Memory grows with the square of `most`, the stack with `most`.
  explicit Search(Index most)
      : next_(most),
        previous_(most),
        offsets_(most),
        left_(most),
        lowest_(most),
        blamed_(static_cast<std::size_t>(most)) {
    // A placement raises no block twice, and each block is a candidate once for each that was placed before.
    const auto blocks = static_cast<std::size_t>(most), pairs = blocks * (blocks + 1) / 2;
    placed_.reserve(blocks);
    raised_.reserve(pairs);
    candidates_.reserve(pairs);
    parts_.reserve(pairs);
  }

  /// Searches for a plan of at most `target` units for blocks that are connected in time. Among candidates at
  /// one offset, tries the least rank first; ranks are distinct. A step is a look at a block.
  Outcome run(const Lives& lives, std::span<const std::int32_t> ranks, Index target, Index most_steps) {
    blocks_ = lives.blocks.data();
    ranks_ = ranks.data();
    target_ = target;
    steps_ = 0;
    most_steps_ = most_steps;
    placed_.clear();
    raised_.clear();
    candidates_.clear();
    parts_.clear();
    std::ranges::copy(lives.live, left_.begin());
    std::ranges::fill(blamed_, 0);
    const auto count = static_cast<Position>(lives.blocks.size());
    for (Position b = 0; b < count; ++b) {
      next_[b] = b + 1 < count ? b + 1 : none;
      previous_[b] = b - 1;
      offsets_[b] = 0;
    }
    if (solve(0, count - 1, {0, none})) return Outcome::found;
    return steps_ > most_steps_ ? Outcome::out_of_steps : Outcome::impossible;
  }

  /// The offset of each block, if a plan was found.
  std::span<const Index> offsets() const { return {offsets_.begin(), offsets_.end()}; }
  /// How often each section had no room left.
  std::span<const Index> blamed() const { return blamed_; }
  Index steps() const { return steps_; }

 private:
  static constexpr Index endless = std::numeric_limits<Index>::max();

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

  bool solve(Position first, Position last, Level level) {
    const std::size_t before = parts_.size();
    bool possible = divide(first, last, level) && steps_ <= most_steps_;
    // Noting parts of a part may move it in memory.
    for (std::size_t k = before; possible && k < parts_.size(); ++k) possible = solve(Part(parts_[k]), level);
    parts_.resize(before);
    return possible;
  }

  bool solve(const Part& part, Level level) {
    const std::size_t before = candidates_.size();
    const Position end = next_[part.last];
    for (Position b = part.first; b != end; b = next_[b]) {
      if (!waits(b, level) && offsets_[b] < part.ceiling) candidates_.push_back({offsets_[b], ranks_[b], b});
    }
    const std::size_t count = candidates_.size();
    std::sort(candidates_.begin() + static_cast<std::ptrdiff_t>(before), candidates_.end(),
              [](const Candidate& a, const Candidate& b) {
                return a.offset != b.offset ? a.offset < b.offset : a.rank < b.rank;
              });
    bool found = false;
    for (std::size_t k = before; k < count && !found && steps_ <= most_steps_; ++k) {
      found = place(part, Candidate(candidates_[k]));
    }
    candidates_.resize(before);
    return found;
  }
  /// Notes the parts of a list and returns whether each may have a plan.
  bool divide(Position first, Position last, Level level) {
    const Position end = next_[last];
    Part part{first, first, endless};
    std::int32_t begin = blocks_[first].first, reach = begin;
    for (Position b = first; b != end; b = next_[b]) {
      ++steps_;
      const Life& life = blocks_[b];
      if (life.first >= reach && b != first) {
        if (!has_room(part, begin, reach)) return false;
        parts_.push_back(part);
        part = {b, b, endless};
        begin = reach = life.first;
      }
      for (; reach < life.last; ++reach) lowest_[reach] = endless;
      const Index lowest = std::max(offsets_[b], level.offset);
      if (lowest + life.units > target_) return false;
      if (!waits(b, level)) part.ceiling = std::min(part.ceiling, lowest + life.units);
      for (std::int32_t s = life.first; s < life.last; ++s) lowest_[s] = std::min(lowest_[s], lowest);
      part.last = b;
    }
    if (!has_room(part, begin, reach)) return false;
    parts_.push_back(part);
    return true;
  }

  bool has_room(const Part& part, std::int32_t begin, std::int32_t end) {
    // All blocks wait for another one beneath them, and no such block is left.
    if (part.ceiling == endless) return false;
    for (std::int32_t s = begin; s < end; ++s) {
      if (left_[s] == 0 || left_[s] <= target_ - lowest_[s]) continue;
      ++blamed_[static_cast<std::size_t>(s)];
      return false;
    }
    return true;
  }
  /// Whether a block needs another one beneath it first.
  bool waits(Position b, Level level) const {
    return offsets_[b] < level.offset || (offsets_[b] == level.offset && ranks_[b] < level.rank);
  }

  bool place(const Part& part, const Candidate& next) {
    const std::size_t placed = placed_.size(), raised = raised_.size();
    const Position b = next.block;
    unlink(b);
    placed_.push_back(b);
    if (part.first == part.last) return true;
    const Position first = b == part.first ? next_[b] : part.first;
    const Position last = b == part.last ? previous_[b] : part.last;
    if (raise(first, next_[last], next) && solve(first, last, {next.offset, next.rank})) return true;
    for (; raised_.size() > raised; raised_.pop_back()) {
      offsets_[raised_.back().block] = raised_.back().before;
    }
    // These include blocks of parts that had a plan before another part had none.
    for (; placed_.size() > placed; placed_.pop_back()) relink(placed_.back());
    return false;
  }

  bool raise(Position first, Position end, const Candidate& under) {
    const Life& life = blocks_[under.block];
    const Index top = under.offset + life.units;
    for (Position b = first; b != end && blocks_[b].first < life.last; b = next_[b]) {
      if (blocks_[b].last <= life.first || offsets_[b] >= top) continue;
      if (top + blocks_[b].units > target_) return false;
      raised_.push_back({b, offsets_[b]});
      offsets_[b] = top;
    }
    return true;
  }

  void unlink(Position b) {
    if (previous_[b] != none) next_[previous_[b]] = next_[b];
    if (next_[b] != none) previous_[next_[b]] = previous_[b];
    for (std::int32_t s = blocks_[b].first; s < blocks_[b].last; ++s) left_[s] -= blocks_[b].units;
  }

  void relink(Position b) {
    if (previous_[b] != none) next_[previous_[b]] = b;
    if (next_[b] != none) previous_[next_[b]] = b;
    for (std::int32_t s = blocks_[b].first; s < blocks_[b].last; ++s) left_[s] += blocks_[b].units;
  }

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
