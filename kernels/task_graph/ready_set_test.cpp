#include "task_graph/ready_set.hpp"

#include "assay/random.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay::task_graph {
namespace {

TEST(ReadySet, TakesTheLowestOfWhatIsIn) {
  ReadySet ready(300);
  for (const TaskId rank : {299, 64, 63, 128}) ready.insert(rank);
  EXPECT_EQ(ready.take_first(), 63);
  ready.insert(0);
  EXPECT_EQ(ready.take_first(), 0);
  EXPECT_EQ(ready.take_first(), 64);
  EXPECT_EQ(ready.take_first(), 128);
  EXPECT_FALSE(ready.empty());
  EXPECT_EQ(ready.take_first(), 299);
  EXPECT_TRUE(ready.empty());
}

// 1, 2 and 4 levels, each full and one more.
TEST(ReadySet, DoesAsAnOrderedSetDoes) {
  for (const Index ranks : {1, 64, 65, 4096, 4097, 300000}) {
    ReadySet ready(ranks);
    std::set<TaskId> want;
    Rng rng(42);
    for (int step = 0; step < 20000; ++step) {
      const auto rank = static_cast<TaskId>(rng.integer(0, ranks - 1));
      if (rng.integer(0, 1) == 0 && !want.contains(rank)) {
        want.insert(rank);
        ready.insert(rank);
      } else if (!want.empty()) {
        ASSERT_EQ(ready.take_first(), *want.begin()) << ranks << " ranks, step " << step;
        want.erase(want.begin());
      }
      ASSERT_EQ(ready.empty(), want.empty());
    }
    ready.clear();
    EXPECT_TRUE(ready.empty());
  }
}

}  // namespace
}  // namespace assay::task_graph
