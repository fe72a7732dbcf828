// Sides of a launch in one process: what the processes of a gate do, with threads in their place.
#include "bench/measure/turns.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

namespace assay {
namespace {

TEST(Baton, LetsSidesActInTheOrderOfTheStepsAndOneAtATime) {
  Board board{};
  const std::vector<int> steps{0, 1, 2, 2, 1, 0, 1, 0, 2};
  std::vector<int> acted;  // unguarded: the baton is the guard, which a thread sanitizer checks
  const auto walk = [&](int side) {
    Baton baton(board, side);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      baton.step(steps[i], i + 1 < steps.size() ? steps[i + 1] : 0, [&] { acted.push_back(side); });
    }
  };
  std::thread first(walk, 1), second(walk, 2);
  walk(0);
  first.join();
  second.join();
  EXPECT_EQ(acted, steps);
}

TEST(SharedRegions, AreTheSamePagesForWhoeverIsGivenThem) {
  const SharedRegion region = SharedRegion::made(1 << 20);
  std::memcpy(region.data(), "seen", 5);
  char read[5] = "";
  ASSERT_EQ(pread(region.descriptor(), read, sizeof read, 0), 5);
  EXPECT_STREQ(read, "seen");
}

}  // namespace
}  // namespace assay
