#include "elementwise/loop_nest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace assay::elementwise {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

LoopNest nest_of(const Axes& extents, Layout layout, bool unary = false) {
  return collapse(extents, views(extents, layout), unary);
}

TEST(Collapse, MakesOneRowOfDenseOperands) {
  EXPECT_THAT(nest_of({2, 3, 5, 7}, Layout::contiguous).extent, ElementsAre(1, 1, 1, 210));
  EXPECT_THAT(nest_of({2, 3, 5, 7}, Layout::channels_last).extent, ElementsAre(1, 1, 1, 210));
  EXPECT_THAT(nest_of({2, 3, 5, 7}, Layout::scalar).extent, ElementsAre(1, 1, 1, 210));
}

TEST(Collapse, KeepsAnAxisWhereBroadcastingStartsOver) {
  const LoopNest nchw = nest_of({2, 3, 5, 7}, Layout::per_channel);
  EXPECT_THAT(nchw.extent, ElementsAre(1, 2, 3, 35));
  EXPECT_THAT(nchw.y, ElementsAre(0, 0, 1, 0));
  const LoopNest nhwc = nest_of({2, 3, 5, 7}, Layout::per_channel_last);
  EXPECT_THAT(nhwc.extent, ElementsAre(1, 1, 70, 3));
  EXPECT_THAT(nhwc.y, ElementsAre(0, 0, 0, 1));
}

TEST(Collapse, IgnoresTheViewOfYWithoutY) {
  EXPECT_THAT(nest_of({2, 3, 5, 7}, Layout::per_channel, true).extent, ElementsAre(1, 1, 1, 210));
}

TEST(Collapse, EndsInARowOfStrideOneWhereTheImageIsOnePixelWide) {
  const LoopNest nest = nest_of({3, 1, 4, 1}, Layout::bordered);
  EXPECT_THAT(nest.extent, ElementsAre(1, 3, 4, 1));
  EXPECT_THAT(nest.z, ElementsAre(0, 18, 3, 0));  // images of 6 x 3, their rows 3 apart
}

/// Every element of a problem once, in any order, as the offsets of its operands.
std::vector<std::array<Index, 3>> by_cursor(const LoopNest& nest) {
  std::vector<std::array<Index, 3>> out;
  RowCursor at(nest, 0);
  for (Index row = 0; row < nest.rows(); ++row, at.next()) {
    for (Index i = 0; i < nest.row_length(); ++i) {
      out.push_back({at.x + i * nest.x[3], at.y + i * nest.y[3], at.z + i * nest.z[3]});
    }
  }
  return out;
}

TEST(RowCursor, VisitsWhatTheIndexMapsSay) {
  for (const Axes& e : {Axes{2, 3, 5, 7}, Axes{3, 1, 4, 1}, Axes{2, 1, 1, 6}, Axes{1, 4, 1, 1}}) {
    for (std::size_t layout = 0; layout < binary_layouts.size(); ++layout) {
      const Views view = views(e, static_cast<Layout>(layout));
      std::vector<std::array<Index, 3>> want;
      for (Index flat = 0; flat < e[0] * e[1] * e[2] * e[3]; ++flat) {
        const Index w = flat % e[3], h = flat / e[3] % e[2], c = flat / (e[3] * e[2]) % e[1],
                    n = flat / (e[3] * e[2] * e[1]);
        want.push_back({view.x.at(n, c, h, w), view.y.at(n, c, h, w), view.z.at(n, c, h, w)});
      }
      EXPECT_THAT(by_cursor(collapse(e, view, false)), ::testing::UnorderedElementsAreArray(want))
          << binary_layouts[layout];
    }
  }
}

TEST(RowCursor, StartsAtAnyRow) {
  const LoopNest nest = nest_of({3, 4, 5, 6}, Layout::bordered);
  RowCursor walked(nest, 0);
  for (Index row = 0; row < nest.rows(); ++row, walked.next()) {
    const RowCursor placed(nest, row);
    EXPECT_EQ(placed.x, walked.x) << row;
    EXPECT_EQ(placed.y, walked.y) << row;
    EXPECT_EQ(placed.z, walked.z) << row;
  }
}

/// Counts for each element of the nest the shares that it is in.
std::vector<int> covered(const LoopNest& nest, Index parts) {
  std::vector<int> times(static_cast<std::size_t>(nest.rows() * nest.row_length()));
  for (Index part = 0; part < parts; ++part) {
    const Share mine = share(nest, part, parts);
    for (Index row = mine.first_row; row < mine.last_row; ++row) {
      for (Index i = mine.first; i < mine.last; ++i) {
        ++times[static_cast<std::size_t>(row * nest.row_length() + i)];
      }
    }
  }
  return times;
}

TEST(Share, CoversEveryElementOnce) {
  for (const Index parts : {1, 2, 3, 7}) {
    EXPECT_THAT(covered(nest_of({1, 1, 1, 1}, Layout::contiguous), parts), Each(1)) << parts;
    EXPECT_THAT(covered(nest_of({2, 3, 5, 7}, Layout::contiguous), parts), Each(1)) << parts;
    EXPECT_THAT(covered(nest_of({2, 3, 50, 7}, Layout::bordered), parts), Each(1)) << parts;
    EXPECT_THAT(covered(nest_of({2, 3, 5, 70}, Layout::per_channel), parts), Each(1)) << parts;
  }
}

TEST(Share, EndsRowSlicesAtCacheLines) {
  const LoopNest nest = nest_of({1, 1, 1, 1000}, Layout::contiguous);
  EXPECT_EQ(share(nest, 0, 3).last % 16, 0);
  EXPECT_EQ(share(nest, 1, 3).first, share(nest, 0, 3).last);
  EXPECT_EQ(share(nest, 2, 3).last, 1000);
}

}  // namespace
}  // namespace assay::elementwise
