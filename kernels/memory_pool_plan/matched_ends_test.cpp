#include "memory_pool_plan/matched_ends.hpp"

#include "assay/random.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::memory_pool::matched_ends_test {
namespace {

using Direction = MatchedEnds::Direction;
using First = MatchedEnds::First;

struct Planned {
  std::vector<Request> requests;
  std::vector<Index> offsets;
  Index height = 0;  ///< in units
};

/// Requests that are connected in time, placed below the most units alive where that is possible.
Planned planned(const std::vector<Request>& requests, Direction direction, First first) {
  const auto count = static_cast<Index>(requests.size());
  Parts parts(count);
  parts.read(requests);
  MatchedEnds matched_ends(count);
  Planned out{.requests = {}, .offsets = {}};
  out.height = matched_ends.place(parts.lives(0), parts.least(0), direction, first);
  for (std::size_t b = 0; b < parts.requests(0).size(); ++b) {
    out.requests.push_back(requests[static_cast<std::size_t>(parts.requests(0)[b])]);
    out.offsets.push_back(matched_ends.offsets()[b] * alignment);
  }
  return out;
}

std::string fault_of(const Planned& p) {
  const Plan plan{p.requests, p.offsets, p.height * alignment};
  const auto found = fault(plan);
  return found ? to_string(*found, plan) : "";
}

TEST(MatchedEnds, HangBlocksThatEndLateFromTheTop) {
  // Activations of 3, 1 and 2 units end in reverse order. Gradients of 2, 1 and 3 units start as they end,
  // and stay to the end: 6, 6, 5 and then 6 units are alive. In order of start, the gradient of 2 units goes
  // above 6.
  const std::vector<Request> clipped{{192, 0, 6}, {64, 1, 5}, {128, 2, 3},
                                     {128, 3, 7}, {64, 5, 7}, {192, 6, 7}};
  const Planned p = planned(clipped, Direction::forward, First::nearest_end);
  EXPECT_EQ(fault_of(p), "");
  EXPECT_EQ(p.height, 6);
}

TEST(MatchedEnds, MakeValidPlansOfAnyLives) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Request> requests{{64, 0, 100}};  // connects the others
    for (Index i = rng.integer(0, 60); i > 0; --i) {
      const Index start = rng.integer(0, 98);
      requests.push_back({rng.integer(1, 999), start, rng.integer(start + 1, 100)});
    }
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      for (const First first : {First::nearest_end, First::smallest_gap}) {
        EXPECT_EQ(fault_of(planned(requests, direction, first)), "") << "seed 3, round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace assay::memory_pool::matched_ends_test
