// The idea: a sweep over time with the blocks alive, ordered by offset. While those are disjoint, a new block
// can overlap one only if it overlaps the next below or above, so nothing is quadratic. The ordered set is a
// bitmap over ranks by offset, with a bitmap of its nonempty words above it, and so on: a neighbour is found
// in a word or two per level, and 64^4 blocks need four levels.

#include "memory_pool/sorter.hpp"
#include "memory_pool_validate/compact.hpp"

#include "assay/registry.hpp"

namespace assay::memory_pool {
namespace {

/// An ordered set of numbers below a limit.
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

template <class Number>
class TimeSweep {
 public:
  explicit TimeSweep(Index most)
      : by_offset_(most),
        by_start_(most),
        by_end_(most),
        blocks_(static_cast<std::size_t>(most)),
        lives_(blocks_.size()),
        alive_(most) {}

  bool valid(const Compact& plan) {
    const auto order =
        by_offset_.sorted(plan.blocks(), [&](Index i) { return static_cast<Number>(plan.lower(i)); });
    // Fetches all data of a block at once: in order of offset the list is read at random.
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      const auto i = static_cast<Index>(order[rank].position);
      blocks_[rank] = {order[rank].key, static_cast<Number>(plan.upper(i))};
      lives_[rank] = {static_cast<Number>(plan.start(i)), static_cast<Number>(plan.end(i))};
    }
    const auto starts = by_start_.sorted(
        plan.blocks(), [&](Index rank) { return lives_[static_cast<std::size_t>(rank)].start; });
    const auto ends =
        by_end_.sorted(plan.blocks(), [&](Index rank) { return lives_[static_cast<std::size_t>(rank)].end; });

    alive_.reset(order.size());
    std::size_t next_end = 0;
    for (const auto& [start, position] : starts) {
      // A life ends before the step of its end. The last end is past every start and stops this loop.
      for (; ends[next_end].key <= start; ++next_end) {
        alive_.erase(static_cast<std::size_t>(ends[next_end].position));
      }
      const auto rank = static_cast<std::size_t>(position);
      const std::size_t above = alive_.above(rank), below = alive_.below(rank);
      if (above != RankSet::none && blocks_[above].lower < blocks_[rank].upper) return false;
      if (below != RankSet::none && blocks_[below].upper > blocks_[rank].lower) return false;
      alive_.insert(rank);
    }
    return true;
  }

 private:
  struct Extent {
    Number lower, upper;
  };
  struct Life {
    Number start, end;
  };
  Sorter<Number> by_offset_, by_start_, by_end_;
  std::vector<Extent> blocks_;  // in order of offset
  std::vector<Life> lives_;     // in order of offset
  RankSet alive_;
};

const Register registered{[](Registry& r) {
  r.add<MemoryPoolValidate>({.name = "time_sweep",
                             .summary = "sweep over time; a block that enters meets its two neighbours alive",
                             .prepare = prepare_validator<TimeSweep>});
}};

}  // namespace
}  // namespace assay::memory_pool
