#include "conv2d/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

namespace assay::conv2d {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

DataProblem layer(std::string_view text) { return parse_problem<DataProblem>("test", text); }

TEST(ForwardLayout, OfStrideOneIsOnePlaneWhoseRowsShareABorder) {
  // 5 columns with a border of one on each side are 7; the zero at the end of a row is that before the next.
  const Layout layout = forward_layout(layer("n=1,c=1,f=1,h=4,w=5,kernel=3,pad=1"));
  ASSERT_THAT(layout.planes, SizeIs(1));
  ASSERT_THAT(layout.sweeps, SizeIs(1));
  EXPECT_EQ(layout.pitch, 6);
  EXPECT_THAT(layout.sweeps[0].in_channel, ElementsAre(0, 1, 2, 6, 7, 8, 12, 13, 14));
  EXPECT_EQ(layout.planes[0].row, 1);
  EXPECT_EQ(layout.planes[0].column, 1);
  EXPECT_EQ(layout.planes[0].rows, 4);
  EXPECT_EQ(layout.planes[0].columns, 5);
}

TEST(ForwardLayout, WithoutABorderIsTheImage) {
  const Layout layout = forward_layout(layer("n=1,c=1,f=1,h=4,w=5,kernel=3"));
  EXPECT_EQ(layout.pitch, 5);
  EXPECT_THAT(layout.sweeps[0].in_channel, ElementsAre(0, 1, 2, 5, 6, 7, 10, 11, 12));
}

TEST(ForwardLayout, OfStrideTwoHasAPlaneForEachPhaseUnderATap) {
  // Taps 0 and 2 read even rows of the bordered image, tap 1 odd ones.
  const Layout layout = forward_layout(layer("n=1,c=1,f=1,h=9,w=1,kernel=3,kernel_w=1,stride=2"));
  ASSERT_THAT(layout.planes, SizeIs(2));
  EXPECT_EQ(layout.planes[0].rows, 5);  // 0, 2, 4, 6, 8
  EXPECT_EQ(layout.planes[1].rows, 4);  // 1, 3, 5, 7
  EXPECT_EQ(layout.planes[1].pixel_row, 1);
  EXPECT_THAT(layout.sweeps[0].in_channel, ElementsAre(0, layout.plane_floats, layout.pitch));
}

TEST(ForwardLayout, KeepsOnlyThePhasesThatATapReads) {
  EXPECT_THAT(forward_layout(layer("n=1,c=1,f=1,h=9,w=9,kernel=1,stride=2")).planes, SizeIs(1));
}

TEST(DataLayout, DividesTheTapsAmongTheRestsOfTheStride) {
  // With a border of one, even pixels are reached by tap 1 alone, odd ones by taps 0 and 2.
  const Layout layout =
      data_layout(layer("n=1,c=1,f=1,h=8,w=1,kernel=3,kernel_w=1,stride=2,pad=1,left=0,right=0"));
  ASSERT_THAT(layout.sweeps, SizeIs(2));
  EXPECT_THAT(layout.sweeps[0].in_weights, ElementsAre(1));
  EXPECT_THAT(layout.sweeps[1].in_weights, ElementsAre(0, 2));
  EXPECT_EQ(layout.sweeps[1].row, 1);
  EXPECT_EQ(layout.sweeps[1].out_h, 4);
  EXPECT_EQ(layout.sweeps[1].step, 2);
}

TEST(DataLayout, LeavesASweepEmptyThatNoTapReaches) {
  const Layout layout = data_layout(layer("n=1,c=1,f=1,h=1,w=4,kernel=1,stride=2"));
  ASSERT_THAT(layout.sweeps, SizeIs(2));
  EXPECT_FALSE(layout.sweeps[0].is_empty());
  EXPECT_TRUE(layout.sweeps[1].is_empty());
}

TEST(Layout, NeverPutsPlanesAnEvenNumberOfCacheLinesApart) {
  for (const std::string_view text :
       {"n=1,c=1,f=1,h=14,w=15,kernel=3,pad=1", "n=1,c=1,f=1,h=16,w=16,kernel=1"}) {
    EXPECT_EQ(forward_layout(layer(text)).plane_floats % 32, 16) << text;
  }
}

}  // namespace
}  // namespace assay::conv2d
