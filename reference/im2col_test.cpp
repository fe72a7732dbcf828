#include "assay/ops/im2col.hpp"

#include "assay/error.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace assay::im2col_test {
namespace {

using im2col::Layout;
using im2col::Problem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

std::vector<float> col_of(const Problem& p, std::initializer_list<float> image) {
  Setting setting;
  return Im2col::expect(p, {numbers(image)}, setting).col;
}

std::vector<double> image_of(const Problem& p, std::initializer_list<float> col) {
  Setting setting;
  return Col2im::expect(p, {numbers(col)}, setting).value;
}

constexpr Index patch_major = static_cast<Index>(Layout::patch_major);

/// A variant of `Op` under test, alone with its planted fault, on one problem.
template <class Op>
Agreement check(void (*run)(const Problem&, const typename Op::Input&, typename Op::Output&),
                const char* problem, Fill fill = Fill::exact) {
  Registry registry;
  registry.add<Op>({.name = "naive", .run = run});
  return registry.at(Op::name).open(problem, {.fill = fill, .rng = Rng(5)})->check(0, {});
}

/// im2col with one thing changed: element(window, image plane, kh, kw, oh, ow) by channels.
template <class Element>
void by_element(const Problem& p, const Im2col::Input& in, Im2col::Output& out, const Element& element) {
  const Window window = p.window();
  Index flat = 0;
  for (Index plane = 0; plane < p.n * p.c; ++plane) {
    for (Index tap = 0; tap < window.taps(); ++tap) {
      for (Index pixel = 0; pixel < window.out_h() * window.out_w(); ++pixel) {
        out.col[flat++] = element(window, in.image.data() + plane * p.h * p.w, tap / window.kernel_w,
                                  tap % window.kernel_w, pixel / window.out_w(), pixel % window.out_w());
      }
    }
  }
}

float right(const Window& window, const float* plane, Index kh, Index kw, Index oh, Index ow) {
  const Index y = window.row(oh, kh), x = window.column(ow, kw);
  return window.inside(y, x) ? plane[y * window.w + x] : 0;
}

// The image 1 2 3 / 4 5 6 / 7 8 9 under a window of 2 x 2: patches 1 2 4 5, 2 3 5 6, 4 5 7 8, 5 6 8 9.
TEST(Im2col, MatchesPatchesWorkedByHand) {
  const auto image = {1.F, 2.F, 3.F, 4.F, 5.F, 6.F, 7.F, 8.F, 9.F};
  EXPECT_THAT(col_of({{.h = 3, .w = 3, .kernel = 2}, 1, 1, patch_major}, image),
              ElementsAre(1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9));
  EXPECT_THAT(col_of({{.h = 3, .w = 3, .kernel = 2}, 1, 1}, image),
              ElementsAre(1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9));  // this one is symmetric
  // One row per tap with stride 2 and a dilation of 2 in a row 1 … 9: 1 3 5 7 and 3 5 7 9.
  EXPECT_THAT(col_of({{.h = 1, .w = 9, .kernel = 1, .kernel_w = 2, .stride = 2, .dilation = 2}, 1, 1}, image),
              ElementsAre(1, 3, 5, 7, 3, 5, 7, 9));
}

TEST(Im2col, PutsZerosWhereOneSideIsPadded) {
  // The row 1 2 with a window of 2: padded left 0 1 2, padded right 1 2 0; taps are rows.
  const Problem left{{.h = 1, .w = 2, .kernel = 1, .kernel_w = 2, .left = 1, .right = 0}, 1, 1};
  const Problem right{{.h = 1, .w = 2, .kernel = 1, .kernel_w = 2, .left = 0, .right = 1}, 1, 1};
  EXPECT_THAT(col_of(left, {1, 2}), ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(col_of(right, {1, 2}), ElementsAre(1, 2, 2, 0));
  // The column 1 2: padded top 0 1 2, padded bottom 1 2 0.
  const Problem top{
      {.h = 2, .w = 1, .kernel = 2, .kernel_w = 1, .pad = 1, .bottom = 0, .left = 0, .right = 0}, 1, 1};
  const Problem bottom{{.h = 2, .w = 1, .kernel = 2, .kernel_w = 1, .bottom = 1}, 1, 1};
  EXPECT_THAT(col_of(top, {1, 2}), ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(col_of(bottom, {1, 2}), ElementsAre(1, 2, 2, 0));
}

TEST(Im2col, KeepsImagesInBlocksOfTheirOwn) {
  // Two images of two channels of two pixels under a window of one tap: channels stay rows of one image.
  EXPECT_THAT(col_of({{.h = 1, .w = 2}, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(col_of({{.h = 1, .w = 2}, 2, 2, patch_major}, {1, 2, 3, 4, 5, 6, 7, 8}),
              ElementsAre(1, 3, 2, 4, 5, 7, 6, 8));
}

TEST(Col2im, SumsPatchesWorkedByHand) {
  // Patches of 2 x 2 of ones in an image of 3 x 3: corners lie in 1, edges in 2, the centre in 4 of them.
  EXPECT_THAT(
      image_of({{.h = 3, .w = 3, .kernel = 2}, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
      ElementsAre(1, 2, 1, 2, 4, 2, 1, 2, 1));
  // A row of four under a window of two. By patches 1 2, 3 4, 5 6: 1, 2 + 3, 4 + 5, 6. By taps 1 2 3 and
  // 4 5 6: 1, 2 + 4, 3 + 5, 6.
  const WindowFields row{.h = 1, .w = 4, .kernel = 1, .kernel_w = 2};
  EXPECT_THAT(image_of({row, 1, 1, patch_major}, {1, 2, 3, 4, 5, 6}), ElementsAre(1, 5, 9, 6));
  EXPECT_THAT(image_of({row, 1, 1}, {1, 2, 3, 4, 5, 6}), ElementsAre(1, 6, 8, 6));
}

TEST(Col2im, LeavesOutThePaddingAndZeroesWhatNoWindowCovers) {
  // A row of 4, stride 3, one tap, padded left by 1: columns -1 and 2 are met.
  const Problem p{{.h = 1, .w = 4, .kernel = 1, .stride = 3, .pad = 0, .left = 1}, 1, 1};
  EXPECT_THAT(image_of(p, {7, 9}), ElementsAre(0, 0, 9, 0));
}

TEST(Col2im, IsTheAdjointOfIm2col) {
  // <im2col(x), y> = <x, col2im(y)> for all x and y, exactly with small integers.
  for (const Problem& p : Im2col::corner_cases()) {
    Setting setting;
    const auto x = Im2col::make_input(p, setting);
    const auto y = Col2im::make_input(p, setting);
    const auto col = Im2col::expect(p, x, setting).col;
    const auto image = Col2im::expect(p, y, setting).value;
    double left = 0, right = 0;
    for (Index i = 0; i < y.col.size(); ++i) {
      left += static_cast<double>(col[static_cast<std::size_t>(i)]) * static_cast<double>(y.col[i]);
    }
    for (Index i = 0; i < x.image.size(); ++i) {
      right += static_cast<double>(x.image[i]) * image[static_cast<std::size_t>(i)];
    }
    EXPECT_EQ(left, right) << to_text(p);
  }
}

TEST(Im2col, RefusesAWindowThatDoesNotFit) {
  Setting setting;
  const Problem tall{{.h = 2, .w = 9, .kernel = 3}, 1, 1};
  EXPECT_THAT(
      [&] { Im2col::make_input(tall, setting); },
      ThrowsMessage<Error>(HasSubstr("im2col n=1,c=1,h=2,w=9,kernel=3: the window spans 3 pixels along "
                                     "h, of which there are 2 with the padding")));
  const Problem wide{{.h = 9, .w = 4, .kernel = 3, .dilation = 3, .pad = 1}, 1, 1};
  EXPECT_THAT([&] { Col2im::footprint(wide); }, ThrowsMessage<Error>(HasSubstr("spans 7 pixels along w")));
  const Problem none{{.h = 9, .w = 4, .kernel = 3, .kernel_w = 0}, 1, 1};
  EXPECT_THAT([&] { Im2col::footprint(none); }, ThrowsMessage<Error>(HasSubstr("kernel_w is 0")));
}

TEST(Im2colJudge, ObjectsToPaddingThatIsAssumedToBeZero) {
  const auto faulty = [](const Problem& p, const Im2col::Input& in, Im2col::Output& out) {
    Index flat = 0;
    by_element(p, in, out,
               [&](const Window& window, const float* plane, Index kh, Index kw, Index oh, Index ow) {
                 const float held = out.col[flat++];
                 return window.inside(window.row(oh, kh), window.column(ow, kw))
                            ? right(window, plane, kh, kw, oh, ow)
                            : held;
               });
  };
  EXPECT_TRUE(check<Im2col>(faulty, "n=1,c=2,h=5,w=5,kernel=3").agrees);
  const Agreement outcome = check<Im2col>(faulty, "n=1,c=2,h=5,w=5,kernel=3,pad=1");
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, HasSubstr("col[0, 0, 0, 0, 0, 0] is unwritten, expected 0.0"));
}

TEST(Im2colJudge, ObjectsToAPaddingOfNegativeZero) {
  const auto faulty = [](const Problem& p, const Im2col::Input& in, Im2col::Output& out) {
    by_element(p, in, out,
               [](const Window& window, const float* plane, Index kh, Index kw, Index oh, Index ow) {
                 const float value = right(window, plane, kh, kw, oh, ow);
                 return value == 0 ? -0.0F : value;
               });
  };
  EXPECT_TRUE(check<Im2col>(faulty, "n=1,c=2,h=5,w=5,kernel=3").agrees);
  EXPECT_FALSE(check<Im2col>(faulty, "n=1,c=2,h=5,w=5,kernel=3,pad=1").agrees);
}

TEST(Im2colJudge, ObjectsToTapsThatAreNotDilated) {
  const auto faulty = [](const Problem& p, const Im2col::Input& in, Im2col::Output& out) {
    by_element(p, in, out, [](Window window, const float* plane, Index kh, Index kw, Index oh, Index ow) {
      window.dilation = 1;
      return right(window, plane, kh, kw, oh, ow);
    });
  };
  EXPECT_TRUE(check<Im2col>(faulty, "n=1,c=2,h=5,w=5,kernel=3").agrees);
  EXPECT_FALSE(check<Im2col>(faulty, "n=1,c=2,h=5,w=5,kernel=2,dilation=2").agrees);
}

TEST(Im2colJudge, ObjectsToTheOtherLayout) {
  const auto faulty = [](const Problem& p, const Im2col::Input& in, Im2col::Output& out) {
    by_element(p, in, out, right);
  };
  EXPECT_TRUE(check<Im2col>(faulty, "n=1,c=2,h=5,w=5,kernel=2").agrees);
  EXPECT_FALSE(check<Im2col>(faulty, "n=1,c=2,h=5,w=5,kernel=2,layout=patch_major").agrees);
}

/// col2im by channels into an image that starts as `start` and leaves out the last `skipped` elements of col.
void accumulate(const Problem& p, const Col2im::Input& in, Col2im::Output& out, Index skipped) {
  const Window window = p.window();
  for (Index i = 0; i < in.col.size() - skipped; ++i) {
    const Index ow = i % window.out_w(), oh = i / window.out_w() % window.out_h();
    const Index tap = i / window.out_w() / window.out_h();
    const Index kw = tap % window.kernel_w, kh = tap / window.kernel_w % window.kernel_h;
    const Index y = window.row(oh, kh), x = window.column(ow, kw);
    if (window.inside(y, x)) out.image[(tap / window.taps() * p.h + y) * p.w + x] += in.col[i];
  }
}

TEST(Col2imJudge, ObjectsToAnImageThatIsNotZeroedFirst) {
  const auto faulty = [](const Problem& p, const Col2im::Input& in, Col2im::Output& out) {
    accumulate(p, in, out, 0);
  };
  EXPECT_FALSE(check<Col2im>(faulty, "n=1,c=2,h=5,w=5,kernel=3,pad=1").agrees);
}

TEST(Col2imJudge, ObjectsToOneTermLeftOut) {
  const auto faulty = [](const Problem& p, const Col2im::Input& in, Col2im::Output& out) {
    std::ranges::fill(out.image, 0.0F);
    accumulate(p, in, out, 1);
  };
  for (const Fill fill : Col2im::fills) {
    EXPECT_FALSE(check<Col2im>(faulty, "n=1,c=2,h=5,w=5,kernel=3", fill).agrees) << to_string(fill);
    // The last element of col lies in the padding here and is no term of any pixel.
    EXPECT_TRUE(check<Col2im>(faulty, "n=1,c=2,h=5,w=5,kernel=3,pad=1", fill).agrees) << to_string(fill);
  }
}

TEST(Col2im, BoundsAPixelByTheTermsItHas) {
  // In the row 0.5 -0.25, window of 2 and no padding, pixels have one term each: no rounding.
  Setting setting{.fill = Fill::uniform};
  const Problem one{{.h = 1, .w = 2, .kernel = 1, .kernel_w = 2}, 1, 1};
  EXPECT_THAT(Col2im::expect(one, {numbers({0.5, -0.25})}, setting).bound, ElementsAre(0, 0));
  // Two terms in the middle: g(1) (|2| + |-4|).
  const Problem two{{.h = 1, .w = 3, .kernel = 1, .kernel_w = 2}, 1, 1, patch_major};
  const double u = 0x1p-24;
  EXPECT_THAT(Col2im::expect(two, {numbers({1, 2, -4, 8})}, setting).bound,
              ElementsAre(0, ::testing::DoubleEq(u / (1 - u) * 6), 0));
}

TEST(Im2col, CostCountsPixelsThatAreReadAndElementsThatAreWritten) {
  // One tap, stride 2 in 5 x 7: 3 x 4 pixels of 35 are read.
  EXPECT_EQ(Im2col::cost({{.h = 5, .w = 7, .stride = 2}, 2, 3}).bytes_read, 4 * 6 * 12);
  EXPECT_EQ(Im2col::cost({{.h = 5, .w = 7, .stride = 2}, 2, 3}).bytes_written, 4 * 6 * 12);
  // 3 x 3 with a border of one: the image is read once, 9 elements per pixel are written.
  const Cost cost = Im2col::cost({{.h = 5, .w = 7, .kernel = 3, .pad = 1}, 1, 1});
  EXPECT_EQ(cost.bytes_read, 4 * 35);
  EXPECT_EQ(cost.bytes_written, 4 * 9 * 35);
}

TEST(Col2im, CostCountsTermsAndAdditions) {
  // 3 taps and a border of one over a row of 5: 4 + 5 + 4 terms for 5 pixels, 8 additions.
  const Cost cost = Col2im::cost({{.h = 1, .w = 5, .kernel = 1, .kernel_w = 3, .left = 1, .right = 1}, 1, 1});
  EXPECT_EQ(cost.flops, 8);
  EXPECT_EQ(cost.bytes_read, 4 * 13);
  EXPECT_EQ(cost.bytes_written, 4 * 5);
}

}  // namespace
}  // namespace assay::im2col_test
