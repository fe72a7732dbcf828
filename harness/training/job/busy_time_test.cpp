#include "training/job/trace.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// [0, 4) and [5, 7): within [1, 3) all 2, within [3, 6) 1 + 1, within [8, 9) nothing.
TEST(BusyTime, IsTheUnionClippedToEachWindow) {
  BusyTime busy;
  busy.add(5, 7);
  busy.add(0, 3);
  busy.add(2, 4);
  busy.add(2.5, 3);
  const std::vector<Span> windows{{1, 3}, {3, 6}, {8, 9}};
  EXPECT_THAT(busy.within(windows), ElementsAre(2, 2, 0));
}

TEST(BusyTime, OfOneIntervalMayLieInSeveralWindows) {
  BusyTime busy;
  busy.add(0, 10);
  const std::vector<Span> windows{{1, 2}, {2, 4}, {9, 12}};
  EXPECT_THAT(busy.within(windows), ElementsAre(1, 2, 1));
}

TEST(BusyTime, IgnoresIntervalsWithoutLength) {
  BusyTime busy;
  busy.add(3, 3);
  busy.add(5, 4);
  EXPECT_THAT(busy.spans(), SizeIs(0));
}

TEST(BusyTime, MergesWhatOverlapsAsItComes) {
  BusyTime busy;
  for (int i = 200000; i > 0; --i) busy.add(i, i + 1.5);
  ASSERT_THAT(busy.spans(), SizeIs(1));
  EXPECT_EQ(busy.spans()[0].begin, 1);
  EXPECT_EQ(busy.spans()[0].end, 200001.5);
}

TEST(BusyTime, WithAnotherIsTheUnionOfBoth) {
  BusyTime first, second;
  first.add(0, 2);
  second.add(1, 3);
  second.add(5, 6);
  first.add(second.spans());
  EXPECT_THAT(first.within(std::vector<Span>{{0, 10}}), ElementsAre(4));
}

}  // namespace
}  // namespace assay
