#include "memory_pool_plan/planner.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace assay::memory_pool {
namespace {

using By = Planner::By;
using Order = Planner::Order;

constexpr std::array orders{Order{By::area, false},  Order{By::area, true},  Order{By::length, false},
                            Order{By::length, true}, Order{By::size, false}, Order{By::size, true}};

/// Targets of searches, as shares of the distance from the lower bound to the best plan. All orders try the
/// easy targets first, then the targets take turns. The bound itself is a good target: without slack, a
/// branch that leads nowhere ends soon.
constexpr std::array first_rounds{0.5, 0.75};
constexpr std::array in_turn{0.5, 0.0, 0.5, 0.25, 0.75};

/// Enough steps to place all blocks once and go back a little.
Index first_patience(Index blocks) { return blocks * blocks * 7 / 10 + 100; }

/// After this many rounds of all orders the patience doubles.
constexpr std::size_t rounds_of_patience = 32;

/// The largest extra weight of a block in whose time searches had no room, and the share of that trouble that
/// passes from one search to the next.
constexpr double most_weight = 10, remembered = 0.95;

/// A plan is improved only if that may save more than a thousandth.
constexpr Index least_gain = 1000;

double worth(const Life& life, By by) {
  const auto units = static_cast<double>(life.units), length = static_cast<double>(life.last - life.first);
  return by == By::area ? units * length : by == By::length ? length : units;
}

}  // namespace

Planner::Planner(Index most, Index steps)
    : steps_(steps),
      parts_(most),
      matched_ends_(most),
      search_(std::min(most, most_searched)),
      ordered_fit_(most),
      offsets_(most),
      heights_(static_cast<std::size_t>(most)),
      improved_(heights_.size()),
      trouble_(heights_.size()),
      pressure_(heights_.size()),
      weights_(heights_.size()),
      order_(heights_.size()),
      ranks_(heights_.size()) {}

void Planner::plan(std::span<const Request> requests, MemoryPoolPlan::Output& out) {
  parts_.read(requests);
  Index enough = 0;
  for (std::size_t part = 0; part < parts_.count(); ++part) enough = std::max(enough, parts_.least(part));
  for (std::size_t part = 0; part < parts_.count(); ++part) pass(part, enough);
  // A part below the highest one is low enough.
  Index steps = steps_;
  while (parts_.count() > 0) {
    const auto heights = std::span(heights_).first(parts_.count());
    const auto part = static_cast<std::size_t>(std::ranges::max_element(heights) - heights.begin());
    const auto blocks = static_cast<Index>(parts_.lives(part).blocks.size());
    if (heights[part] - enough <= enough / least_gain || improved_[part]) break;
    const bool alone = std::ranges::count_if(heights, [&](Index height) { return height > enough; }) == 1;
    const Index most_steps = alone ? steps : steps / 2;
    steps -= blocks > most_searched ? fit(part, enough, most_steps) : search(part, enough, most_steps);
    improved_[part] = true;
    enough = std::max(enough, heights[part]);
  }
  out.height[0] = 0;
  for (std::size_t k = 0; k < requests.size(); ++k) {
    const auto i = static_cast<Index>(k);
    out.height[0] = std::max(out.height[0], out.place(i, offsets_[i] * alignment, requests[k].bytes));
  }
}

void Planner::pass(std::size_t part, Index enough) {
  using Direction = MatchedEnds::Direction;
  using First = MatchedEnds::First;
  const Lives lives = parts_.lives(part);
  heights_[part] = std::numeric_limits<Index>::max();
  improved_[part] = false;
  for (const First first : {First::nearest_end, First::smallest_gap}) {
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      if (heights_[part] <= enough) return;
      const Index height = matched_ends_.place(lives, enough, direction, first);
      if (height < heights_[part]) keep(part, height, matched_ends_.offsets());
    }
  }
}

void Planner::keep(std::size_t part, Index height, std::span<const Index> offsets) {
  heights_[part] = height;
  const std::span<const Index> requests = parts_.requests(part);
  for (std::size_t b = 0; b < requests.size(); ++b) offsets_[requests[b]] = offsets[b];
}

Index Planner::search(std::size_t part, Index enough, Index most_steps) {
  const Lives lives = parts_.lives(part);
  const auto blocks = static_cast<Index>(lives.blocks.size());
  start(lives);
  Index low = enough, steps = 0, patience = first_patience(blocks);
  std::size_t turn = 0;
  for (std::size_t round = 0;; ++round) {
    if (round > 0 && round % rounds_of_patience == 0) patience *= 2;
    for (const Order& order : orders) {
      rank(lives, order, round > 0);
      const bool first = round < first_rounds.size();
      const double share = first ? first_rounds[round] : in_turn[turn++ % in_turn.size()];
      for (auto outcome = Search::Outcome::found; outcome == Search::Outcome::found;) {
        const Index height = heights_[part];
        if (height <= low || steps >= most_steps) return steps;
        const auto above = static_cast<Index>(share * static_cast<double>(height - low));
        const Index target = std::min(low + above, height - 1);
        outcome = search_.run(lives, ranks_, target, std::min(patience, most_steps - steps));
        // Even a short search was set up for all blocks.
        steps += search_.steps() + blocks;
        if (outcome == Search::Outcome::found) keep(part, top(lives), search_.offsets());
        if (outcome == Search::Outcome::impossible) low = target + 1;
        weigh(lives);
      }
    }
  }
}

Index Planner::fit(std::size_t part, Index enough, Index most_steps) {
  const Lives lives = parts_.lives(part);
  rng_ = Rng(1);
  std::ranges::fill(trouble_, 0);
  Index steps = 0;
  for (int round = 0;; ++round) {
    for (const Order& order : orders) {
      if (order.pressure_first) continue;
      if (heights_[part] <= enough || steps >= most_steps) return steps;
      rank(lives, order, round > 0);
      const auto sorted = std::span(order_).first(lives.blocks.size());
      const auto height = ordered_fit_.place(lives, sorted, heights_[part] - 1, (most_steps - steps) / 2);
      steps += 2 * ordered_fit_.steps() + 1;  // a step takes about twice the time of a search's
      if (height) keep(part, *height, ordered_fit_.offsets());
    }
  }
}

void Planner::start(const Lives& lives) {
  rng_ = Rng(1);
  std::ranges::fill(trouble_, 0);
  for (std::size_t b = 0; b < lives.blocks.size(); ++b) {
    const auto [units, first, last] = lives.blocks[b];
    const auto live = lives.live.begin();
    pressure_[b] = *std::max_element(live + first, live + last);
  }
}

Index Planner::top(const Lives& lives) const {
  Index height = 0;
  for (std::size_t b = 0; b < lives.blocks.size(); ++b) {
    height = std::max(height, search_.offsets()[b] + lives.blocks[b].units);
  }
  return height;
}

void Planner::rank(const Lives& lives, const Order& order, bool drawn) {
  const double most = std::max(*std::ranges::max_element(trouble_), 1e-9);
  const auto trouble = trouble_.begin();
  for (std::size_t b = 0; b < lives.blocks.size(); ++b) {
    const Life& life = lives.blocks[b];
    weights_[b] = worth(life, order.by);
    if (!drawn) continue;
    weights_[b] *= rng_.uniform(0.7, 1.4);
    weights_[b] *= 1 + most_weight * *std::max_element(trouble + life.first, trouble + life.last) / most;
  }
  const auto sorted = std::span(order_).first(lives.blocks.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::ranges::sort(sorted, [&](std::size_t a, std::size_t b) {
    if (order.pressure_first && pressure_[a] != pressure_[b]) return pressure_[a] > pressure_[b];
    return weights_[a] != weights_[b] ? weights_[a] > weights_[b] : a < b;
  });
  for (std::size_t k = 0; k < sorted.size(); ++k) ranks_[sorted[k]] = static_cast<std::int32_t>(k);
}

void Planner::weigh(const Lives& lives) {
  const auto blamed = search_.blamed().first(lives.live.size());
  const auto most = static_cast<double>(std::max<Index>(*std::ranges::max_element(blamed), 1));
  for (std::size_t s = 0; s < blamed.size(); ++s) {
    trouble_[s] = remembered * trouble_[s] + static_cast<double>(blamed[s]) / most;
  }
}

void add_planner(Registry& r, const std::string& name, const std::string& summary, Index steps) {
  r.add<MemoryPoolPlan>(
      {.name = name,
       .summary = summary,
       .prepare = [steps](const MemoryPoolPlan::Problem& p, const MemoryPoolPlan::Input&, const Context&) {
         return [made = Planner(p.blocks, steps)](const auto& in, auto& out) mutable {
           made.plan(in.requests, out);
         };
       }});
}

}  // namespace assay::memory_pool
