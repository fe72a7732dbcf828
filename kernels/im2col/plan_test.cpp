// Compares the places in the plan of im2col and col2im with places worked out by hand.

#include "im2col/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::im2col {
namespace {

using ::testing::ElementsAre;

/// Writes a bit per element of one tap.
std::string bits(const View& view, Index tap, Index size) {
  std::string text;
  for (Index i = 0; i < size; ++i) {
    text += (view.mask[tap * view.mask_bytes + i / 8] >> (i % 8) & 1) != 0 ? '1' : '0';
  }
  return text;
}

TEST(InsideRun, HoldsThePositionsWhosePixelExists) {
  // Stride 2, offset -3: pixels -3 -1 1 3 5 7; in [0, 6) are those of positions 2, 3 and 4.
  const auto run = inside_run(6, 2, -3, 6);
  EXPECT_THAT((std::vector{run.first, run.last}), ElementsAre(2, 5));
}

TEST(InsideRun, IsEmptyWithinThePositionsWhereNoPixelExists) {
  for (const Index offset : {-50, -7, 6, 50}) {
    const auto run = inside_run(4, 2, offset, 6);
    EXPECT_GE(run.first, 0) << offset;
    EXPECT_LE(run.last, 4) << offset;
    EXPECT_EQ(run.length(), 0) << offset;
  }
}

TEST(Plan, SortsColumnsByTheirRemainderModuloTheStride) {
  // The example of plan.hpp: 0 a b c d e 0 under three taps. Even columns 0 b d 0, odd columns a c e.
  const Plan plan({{.h = 1, .w = 5, .kernel = 1, .kernel_w = 3, .stride = 2, .left = 1, .right = 1}, 1, 1},
                  Plan::Direction::to_col, 1);
  const View view = plan.view();
  ASSERT_EQ(view.phases, 2);
  EXPECT_THAT((std::vector{view.remainder[0], view.remainder[1]}), ElementsAre(0, 1));
  EXPECT_THAT((std::vector{view.tap(0), view.tap(1), view.tap(2)}), ElementsAre(0, view.pitch, 1));
  EXPECT_THAT((std::vector{view.inside[0].first, view.inside[0].last}), ElementsAre(1, 3));
  EXPECT_THAT((std::vector{view.inside[1].first, view.inside[1].last}), ElementsAre(0, 3));
  EXPECT_FALSE(view.flat);
}

TEST(Plan, KeepsOnlyRemaindersThatSomeTapHas) {
  // Taps 0, 2 and 4 columns apart at stride 4: remainders 0 and 2; the last begins one further in the first.
  const Plan plan({{.h = 1, .w = 20, .kernel = 1, .kernel_w = 3, .stride = 4, .dilation = 2}, 1, 1},
                  Plan::Direction::to_col, 1);
  const View view = plan.view();
  EXPECT_EQ(view.phases, 2);
  EXPECT_THAT((std::vector{view.tap(0), view.tap(1), view.tap(2)}), ElementsAre(0, view.pitch, 1));
  EXPECT_EQ(view.remainder[1], 2);
}

TEST(Plan, MasksWhatAShiftTakesFromAnotherRow) {
  // 2 x 3 pixels, 3 x 3 taps, a border of one. The first tap looks up and left: only the last two of the
  // second row see a pixel. The adjoint: only the first two of the first row are seen by it.
  const Problem p{{.h = 2, .w = 3, .kernel = 3, .pad = 1}, 1, 1};
  const Plan to_col(p, Plan::Direction::to_col, 1), to_image(p, Plan::Direction::to_image, 1);
  ASSERT_TRUE(to_col.view().flat);
  EXPECT_EQ(bits(to_col.view(), 0, 16), "0000110000000000");
  EXPECT_EQ(bits(to_col.view(), 4, 16), "1111110000000000");
  EXPECT_EQ(bits(to_image.view(), 0, 16), "1100000000000000");
}

TEST(Plan, IsFlatOnlyWhereTheOutputIsAsWideAsTheImage) {
  const auto flat = [](const WindowFields& fields) {
    return Plan({fields, 1, 1}, Plan::Direction::to_col, 1).view().flat;
  };
  EXPECT_TRUE(flat({.h = 5, .w = 5, .kernel = 3, .pad = 0, .left = 2, .right = 0}));
  EXPECT_FALSE(flat({.h = 5, .w = 5, .kernel = 3}));
  EXPECT_FALSE(flat({.h = 5, .w = 5, .kernel = 3, .stride = 2, .pad = 3}));
}

}  // namespace
}  // namespace assay::im2col
