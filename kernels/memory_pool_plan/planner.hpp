// A plan as low as a number of steps allows: one pass over time, then searches for lower plans from several
// orders.
//
// The pass is optimal, or nearly so, for the lives of training. Elsewhere, searches are repeated with little
// patience: most searches find a plan at once or never. Each has another target between the lower bound and
// the best plan so far, and another order, in which blocks come earlier if they live where searches had no
// room. No decision depends on a clock, so the same requests have the same plan on every machine.
#pragma once

#include "memory_pool_plan/lives.hpp"
#include "memory_pool_plan/matched_ends.hpp"
#include "memory_pool_plan/ordered_fit.hpp"
#include "memory_pool_plan/search.hpp"

#include "assay/buffer.hpp"
#include "assay/ops/memory_pool.hpp"
#include "assay/random.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::memory_pool {

/// The most blocks of a part that is searched: a search looks at all blocks for each that it places.
inline constexpr Index most_searched = 1024;

class Planner {
 public:
  /// For lists of at most `most` requests. The number of steps is per list.
  Planner(Index most, Index steps);

  void plan(std::span<const Request> requests, MemoryPoolPlan::Output& out);

  /// The criterion of an order: large area (size times length), long life or large size first; among all
  /// blocks, or first among those that live when most units are alive.
  enum class By { area, length, size };
  struct Order {
    By by;
    bool pressure_first;
  };

 private:
  void pass(std::size_t part, Index enough);
  /// Searches for a plan of `enough` units and returns the steps it took.
  Index search(std::size_t part, Index enough, Index most_steps);
  /// The same for a part with too many blocks for a search, by placing them in a few orders.
  Index fit(std::size_t part, Index enough, Index most_steps);
  void start(const Lives& lives);
  void rank(const Lives& lives, const Order& order, bool drawn);
  void weigh(const Lives& lives);
  Index top(const Lives& lives) const;
  void keep(std::size_t part, Index height, std::span<const Index> offsets);

  Index steps_;
  Parts parts_;
  MatchedEnds matched_ends_;
  Search search_;
  OrderedFit ordered_fit_;
  Buffer<Index> offsets_;       ///< offset of each request in the best plan, in units
  std::vector<Index> heights_;  ///< height of each part
  std::vector<bool> improved_;  ///< whether a part was improved
  // State of the part that is searched.
  Rng rng_{1};
  std::vector<double> trouble_;  ///< per section: how often searches had no room there, lately
  std::vector<Index> pressure_;  ///< per block: the most units alive in its time
  std::vector<double> weights_;  ///< weight of each block
  std::vector<std::size_t> order_;
  std::vector<std::int32_t> ranks_;
};

void add_planner(Registry& r, const std::string& name, const std::string& summary, Index steps);

}  // namespace assay::memory_pool
