#include "memory_pool_plan/planner.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace assay::memory_pool::planner_test {
namespace {

constexpr Index some_steps = 3'000'000;

struct Planned {
  std::vector<Index> offsets;
  Index height = 0;
  std::string fault;
};

Planned planned(const std::vector<Request>& requests, Index steps) {
  const auto count = static_cast<Index>(requests.size());
  MemoryPoolPlan::Output out{Buffer<Index>(count), Buffer<Index>(count), Buffer<Index>(1)};
  Planner(count, steps).plan(requests, out);
  Planned made{.offsets = {out.lower.begin(), out.lower.end()}, .height = out.height[0], .fault = {}};
  const Plan plan{requests, made.offsets, made.height};
  if (const auto found = fault(plan)) made.fault = to_string(*found, plan);
  return made;
}

/// The pieces of a rectangle of `steps` steps and `units` units, cut again and again: a plan of `units` units
/// exists.
std::vector<Request> pieces(Index steps, Index units, std::size_t count, std::uint64_t seed) {
  struct Piece {
    Index start, end, low, high;
  };
  Rng rng(seed);
  std::vector<Piece> all{{0, steps, 0, units}};
  while (all.size() < count) {
    Piece& cut = all[static_cast<std::size_t>(rng.integer(0, static_cast<Index>(all.size()) - 1))];
    Piece rest = cut;
    if (rng.integer(0, 1) == 0) {
      if (cut.end - cut.start < 2) continue;
      cut.end = rest.start = rng.integer(cut.start + 1, cut.end - 1);
    } else {
      if (cut.high - cut.low < 2) continue;
      cut.high = rest.low = rng.integer(cut.low + 1, cut.high - 1);
    }
    all.push_back(rest);
  }
  std::vector<Request> out;
  for (const Piece& piece : all)
    out.push_back({alignment * (piece.high - piece.low), piece.start, piece.end});
  return out;
}

TEST(Planner, PutsARectangleTogetherThatWasCut) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const std::vector<Request> requests = pieces(60, 1000, 40, seed);
    const Planned made = planned(requests, some_steps);
    EXPECT_EQ(made.fault, "") << "seed " << seed;
    EXPECT_EQ(made.height, 1000 * alignment) << "seed " << seed;
  }
}

TEST(Planner, MakesNoWorsePlansOfMoreSteps) {
  for (const std::uint64_t seed : {4U, 5U}) {
    const std::vector<Request> requests = pieces(90, 1000, 120, seed);
    Index last = std::numeric_limits<Index>::max();
    for (const Index steps : {Index{0}, Index{20'000}, Index{200'000}}) {
      const Planned made = planned(requests, steps);
      EXPECT_EQ(made.fault, "") << "seed " << seed << ", steps " << steps;
      EXPECT_LE(made.height, last) << "seed " << seed << ", steps " << steps;
      last = made.height;
    }
  }
}

TEST(Planner, MakesTheSamePlanAgain) {
  const std::vector<Request> requests = pieces(90, 1000, 120, 6), others = pieces(50, 100, 120, 7);
  MemoryPoolPlan::Output out{Buffer<Index>(120), Buffer<Index>(120), Buffer<Index>(1)};
  Planner planner(120, 100'000);
  planner.plan(requests, out);
  const std::vector<Index> first(out.lower.begin(), out.lower.end());
  planner.plan(others, out);
  planner.plan(requests, out);
  EXPECT_EQ(std::vector<Index>(out.lower.begin(), out.lower.end()), first);
}

TEST(Planner, PlansPartsApartThatHaveNoStepInCommon) {
  std::vector<Request> requests = pieces(60, 1000, 40, 1);
  for (Request later : pieces(60, 1000, 40, 2)) {
    later.start += 60;
    later.end += 60;
    requests.push_back(later);
  }
  const Planned made = planned(requests, 2 * some_steps);
  EXPECT_EQ(made.fault, "");
  EXPECT_EQ(made.height, 1000 * alignment);
}

TEST(Planner, TriesAFewOrdersWhereBlocksAreTooManyToSearch) {
  std::vector<Request> requests{{64, 0, 2000}};
  Rng rng(8);
  for (Index i = 0; i < 2 * most_searched; ++i) {
    const Index start = rng.integer(0, 1950);
    requests.push_back({64 * rng.integer(1, 99), start, start + rng.integer(1, 20)});
  }
  const Planned without = planned(requests, 0), with = planned(requests, some_steps);
  EXPECT_EQ(with.fault, "");
  EXPECT_LT(with.height, without.height);
}

}  // namespace
}  // namespace assay::memory_pool::planner_test
