// The idea: a sweep over time with the blocks alive, ordered by offset. While those are disjoint, a new block
// can overlap one only if it overlaps the next below or above, so nothing is quadratic. The ordered set
// holds ranks by offset (rank_set.hpp).

#include "memory_pool/sorter.hpp"
#include "memory_pool_validate/compact.hpp"
#include "rank_set.hpp"

#include "assay/registry.hpp"

namespace assay::memory_pool {
namespace {

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
