// A plan in one pass over time: each block goes into a gap beside the block whose end is nearest to its own.
//
// Gaps below a target height are filled from both of their ends, so blocks that end together free adjacent
// bytes. For nested lives that is a stack, and gradients that wait for their global norm hang from the top of
// the pool while activations grow from below.
#pragma once

#include "memory_pool_plan/lives.hpp"

#include "assay/buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

namespace assay::memory_pool {

class MatchedEnds {
 public:
  enum class Direction { forward, backward };
  enum class First { nearest_end, smallest_gap };

  /// For lists of at most `most` blocks.
  explicit MatchedEnds(Index most)
      : by_start_(most),
        by_end_(most),
        above_(most + 2),
        below_(most + 2),
        place_(most + 2),
        lower_(most + 2),
        upper_(most + 2),
        start_(most + 2),
        end_(most + 2) {
    gaps_.reserve(static_cast<std::size_t>(most + 2));
  }

  /// Places every block, above the target if there is no gap below it, and returns the height in units. Among
  /// gaps that fit, takes the best one by `first`, and among equal ones the best by the other criterion.
  Index place(const Lives& lives, Index target, Direction direction, First first) {
    const auto count = static_cast<Position>(lives.blocks.size());
    sort(lives, direction);
    bottom_ = count;
    top_ = bottom_ + 1;
    for (const Position end : {bottom_, top_}) {
      end_[end] = end_[by_end_[count - 1]];
      lower_[end] = upper_[end] = end == bottom_ ? 0 : target;
      place_[end] = nowhere;
    }
    above_[bottom_] = top_;
    below_[top_] = bottom_;
    gaps_.clear();
    note_gap(bottom_);
    Index height = 0;
    Position ended = 0;
    for (Position k = 0; k < count; ++k) {
      const Position block = by_start_[k];
      // The last end is past every start and stops this loop.
      for (; end_[by_end_[ended]] <= start_[block]; ++ended) remove(by_end_[ended]);
      const Index units = lives.blocks[at(block)].units;
      const Choice choice = best_gap(block, units, first);
      const Position below = choice.below == nowhere ? below_[top_] : choice.below;
      const Index lower = choice.hanging ? lower_[above_[below]] - units : upper_[below];
      insert(block, below, lower, units);
      height = std::max(height, lower + units);
    }
    return height;
  }

  std::span<const Index> offsets() const { return {lower_.begin(), lower_.end()}; }

 private:
  static constexpr std::int32_t nowhere = -1;

  /// Gaps tried for one block: training leaves a few, and with more a pass stays in O(n log n).
  static constexpr std::size_t most_gaps = 256;

  static std::size_t at(std::int32_t position) { return static_cast<std::size_t>(position); }

  using Position = std::int32_t;
  struct Choice {
    Position below;  ///< the block under the gap
    bool hanging;    ///< from the block above it
  };

  void sort(const Lives& lives, Direction direction) {
    const auto count = static_cast<Position>(lives.blocks.size());
    for (Position i = 0; i < count; ++i) {
      const Life& life = lives.blocks[at(i)];
      start_[i] = direction == Direction::forward ? life.first : -life.last;
      end_[i] = direction == Direction::forward ? life.last : -life.first;
    }
    const auto by_start = std::span(by_start_.data(), at(count)),
               by_end = std::span(by_end_.data(), at(count));
    std::iota(by_start.begin(), by_start.end(), 0);
    std::iota(by_end.begin(), by_end.end(), 0);
    // Among blocks that start together, the one that lives longest goes to the far end of a gap.
    std::ranges::sort(by_start, {}, [&](Position i) {
      return std::tuple(start_[i], -end_[i], -lives.blocks[at(i)].units, i);
    });
    std::ranges::sort(by_end, {}, [&](Position i) { return std::pair(end_[i], i); });
  }

  Choice best_gap(Position block, Index units, First first) const {
    Choice best{nowhere, false};
    std::tuple<Index, Index, Index> least;
    const std::size_t fewest = gaps_.size() > most_gaps ? gaps_.size() - most_gaps : 0;
    for (std::size_t k = gaps_.size(); k-- > fewest;) {
      const Position below = gaps_[k];
      const Index size = gap(below);
      if (size < units) continue;
      const Index standing = std::abs(end_[below] - end_[block]);
      const Index hanging = std::abs(end_[above_[below]] - end_[block]);
      const Index nearest = std::min(standing, hanging);
      const std::tuple key = first == First::nearest_end ? std::tuple(nearest, size, lower_[below])
                                                         : std::tuple(size, nearest, lower_[below]);
      if (best.below != nowhere && key >= least) continue;
      least = key;
      best = {below, hanging < standing};
    }
    return best;
  }

  void insert(Position block, Position below, Index lower, Index units) {
    lower_[block] = lower;
    upper_[block] = lower + units;
    const Position above = above_[below];
    lower_[above] = std::max(lower_[above], lower + units);  // the end of the pool moves up
    above_[below] = below_[above] = block;
    below_[block] = below;
    above_[block] = above;
    place_[block] = nowhere;
    note_gap(below);
    note_gap(block);
  }

  void remove(Position block) {
    const Position below = below_[block], above = above_[block];
    forget_gap(block);
    above_[below] = above;
    below_[above] = below;
    note_gap(below);
  }

  void note_gap(Position below) {
    const bool known = place_[below] != nowhere;
    if ((gap(below) > 0) == known) return;
    if (known) return forget_gap(below);
    place_[below] = static_cast<Position>(gaps_.size());
    gaps_.push_back(below);
  }

  void forget_gap(Position below) {
    Position& place = place_[below];
    if (place == nowhere) return;
    gaps_[at(place)] = gaps_.back();
    place_[gaps_.back()] = place;
    gaps_.pop_back();
    place = nowhere;
  }
  Index gap(Position below) const { return lower_[above_[below]] - upper_[below]; }

  Position bottom_ = 0, top_ = 0;  ///< stand for the ends of the pool
  Buffer<Position> by_start_, by_end_;
  Buffer<Position> above_, below_;  ///< neighbours among the blocks alive
  Buffer<Position> place_;          ///< position in gaps_
  Buffer<Index> lower_, upper_;
  Buffer<std::int32_t> start_, end_;
  std::vector<Position> gaps_;  ///< blocks with a gap above them, in no order
};

}  // namespace assay::memory_pool
