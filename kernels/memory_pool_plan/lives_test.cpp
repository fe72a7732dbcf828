#include "memory_pool_plan/lives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace assay::memory_pool::lives_test {
namespace {

using ::testing::ElementsAre;

Parts parts_of(const std::vector<Request>& requests) {
  Parts parts(static_cast<Index>(requests.size()));
  parts.read(requests);
  return parts;
}

TEST(Parts, HaveASectionForEachSetThatNoOtherContains) {
  // The first two live together from step 1 to 4. The third starts when the first ends, with the second.
  const Parts parts = parts_of({{64, 4, 9}, {65, 0, 4}, {640, 1, 6}});
  ASSERT_EQ(parts.count(), 1U);
  const Lives lives = parts.lives(0);
  ASSERT_EQ(lives.blocks.size(), 3U);
  EXPECT_THAT(parts.requests(0), ElementsAre(1, 2, 0));
  EXPECT_THAT(lives.live, ElementsAre(2 + 10, 10 + 1));
  EXPECT_EQ(parts.least(0), 12);
  EXPECT_EQ(lives.blocks[1].first, 0);
  EXPECT_EQ(lives.blocks[1].last, 2);
  EXPECT_EQ(lives.blocks[2].first, 1);
  EXPECT_EQ(lives.blocks[2].last, 2);
}

TEST(Parts, AreDividedWhereNothingLives) {
  // A life ends before the step of its end, so the first two parts touch.
  Parts parts = parts_of({{64, 5, 7}, {64, 0, 5}, {128, 2, 3}, {64, 90, 91}});
  ASSERT_EQ(parts.count(), 3U);
  EXPECT_THAT(parts.requests(0), ElementsAre(1, 2));
  EXPECT_THAT(parts.lives(0).live, ElementsAre(3));
  EXPECT_THAT(parts.requests(1), ElementsAre(0));
  EXPECT_THAT(parts.lives(1).live, ElementsAre(1));
  EXPECT_THAT(parts.requests(2), ElementsAre(3));
  // They are read again as if for the first time.
  const std::vector<Request> one{{64, 1, 2}};
  parts.read(one);
  ASSERT_EQ(parts.count(), 1U);
  EXPECT_THAT(parts.lives(0).live, ElementsAre(1));
}

}  // namespace
}  // namespace assay::memory_pool::lives_test
