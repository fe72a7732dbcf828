#include "assay/ops/conv2d.hpp"

#include "assay/error.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace assay::conv2d_winograd_test {
namespace {

using conv2d::winograd::error_share;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr double u = 0x1p-24;

template <class Op>
auto problem(std::string_view text) {
  return parse_problem<typename Op::Problem>("test", text);
}

Buffer<float> zeros_but(Index size, Index at, float value) {
  Buffer<float> out(size);
  std::ranges::fill(out, 0.0F);
  out[at] = value;
  return out;
}

TEST(WinogradMatrices, ComputeEachResultFromItsThreePixels) {
  // Both sides are linear in taps and in pixels, so that pairs of one tap and one pixel are all there is.
  constexpr auto m = conv2d::winograd::matrices();
  for (std::size_t tap = 0; tap < 3; ++tap) {
    for (std::size_t pixel = 0; pixel < 6; ++pixel) {
      for (std::size_t result = 0; result < 4; ++result) {
        double sum = 0;
        for (std::size_t i = 0; i < 6; ++i) sum += m.a[result][i] * m.g[i][tap] * m.b[i][pixel];
        EXPECT_NEAR(sum, result + tap == pixel ? 1 : 0, 1e-14) << result << ' ' << tap << ' ' << pixel;
      }
    }
  }
}

TEST(WinogradMatrices, OfPixelsAndResultsAreExactInSinglePrecision) {
  constexpr auto m = conv2d::winograd::matrices();
  const auto expect_exact = [](const auto& rows) {
    for (const auto& row : rows) {
      for (const double x : row) EXPECT_EQ(static_cast<double>(static_cast<float>(x)), x);
    }
  };
  expect_exact(m.a);
  expect_exact(m.b);
}

TEST(Conv2dWinogradBound, HasTheShareThatIsWorkedByHand) {
  // |G_i| |B_i| is 3.364702 at 0, 2.483059 at 5/8 and -5/8, 0.666907 at 3/2 and -3/2, 2.957258 at infinity.
  // The first row of A has ones but for infinity: k1 = 9.664634, k2^2 = 24.541914; other rows have less. So
  // s(1) = 2 u sqrt(18 * 602.3055 + 5 * 2292.34 + 4 * 8724.52) = 478.3 u.
  EXPECT_NEAR(error_share(1) / u, 478.3, 0.1);
  // 500 * 602.3055 + 46359.8 = 347512.6.
  EXPECT_NEAR(error_share(483) / u, 2 * std::sqrt(347512.6), 0.1);
}

TEST(Conv2dWinogradBound, IsThatOfAllPixelsThatATileMayRead) {
  // One pixel of 3 and one weight of 4. Results up to the third row and column can be in a tile with the
  // pixel.
  Setting setting{.fill = Fill::uniform};
  const Conv2dWinograd::Input in{{zeros_but(144, 0, 3), zeros_but(9, 0, 4), {}}};
  const auto want = Conv2dWinograd::expect(problem<Conv2dWinograd>("n=1,c=1,f=1,h=12,w=12"), in, setting);
  EXPECT_EQ(want.value[0], 12);
  for (Index i = 0; i < 10; ++i) {
    for (Index j = 0; j < 10; ++j) {
      EXPECT_DOUBLE_EQ(want.bound[static_cast<std::size_t>(i * 10 + j)],
                       i <= 3 && j <= 3 ? 12 * error_share(1) : 0);
    }
  }
}

TEST(Conv2dWinogradBound, OfTheGradientIsThatOfAllPlacesThatATileMayRead) {
  // dy of 3 in its first place, which is a term of pixels up to 2, in tiles with those up to 5.
  Setting setting{.fill = Fill::uniform};
  const Conv2dWinogradDataGradient::Input in{zeros_but(100, 0, 3), zeros_but(9, 0, 4)};
  const auto want = Conv2dWinogradDataGradient::expect(
      problem<Conv2dWinogradDataGradient>("n=1,c=1,f=1,h=12,w=12"), in, setting);
  EXPECT_EQ(want.value[0], 12);
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 12; ++j) {
      EXPECT_DOUBLE_EQ(want.bound[static_cast<std::size_t>(i * 12 + j)],
                       i <= 5 && j <= 5 ? 12 * error_share(1) : 0);
    }
  }
}

TEST(Conv2dWinogradBound, TakesTheWeightsOfTheFilterAndOfTheChannel) {
  // Two channels and two filters; weights 3 and 4 of the second filter, in different channels.
  Setting setting{.fill = Fill::uniform};
  Buffer<float> w = zeros_but(36, 18, 3);
  w[27] = 4;
  const Conv2dWinograd::Input in{{zeros_but(18, 0, 1), std::move(w), {}}};
  const auto y = Conv2dWinograd::expect(problem<Conv2dWinograd>("n=1,c=2,f=2,h=3,w=3"), in, setting);
  EXPECT_DOUBLE_EQ(y.bound[0], 0);
  EXPECT_DOUBLE_EQ(y.bound[1], 5 * error_share(2));

  Buffer<float> turned = zeros_but(36, 0, 3);
  turned[18] = 4;  // the same channel in both filters
  const Conv2dWinogradDataGradient::Input dy{zeros_but(2, 0, 1), std::move(turned)};
  const auto dx = Conv2dWinogradDataGradient::expect(
      problem<Conv2dWinogradDataGradient>("n=1,c=2,f=2,h=3,w=3"), dy, setting);
  EXPECT_DOUBLE_EQ(dx.bound[0], 5 * error_share(2));
  EXPECT_DOUBLE_EQ(dx.bound[9], 0);
}

TEST(Conv2dWinograd, AsksForTheValuesOfConv2d) {
  for (const auto& p : Conv2dWinograd::corner_cases()) {
    Setting setting{.fill = Fill::uniform};
    const auto in = Conv2dWinograd::make_input(p, setting);
    EXPECT_THAT(Conv2dWinograd::expect(p, in, setting).value,
                ElementsAreArray(Conv2d::expect(p, in, setting).value))
        << to_text(p);
  }
}

TEST(Conv2dWinograd, PromisesNothingInADarkCornerOfABrightImage) {
  // Ones but for one pixel of a million. y[3, 3] = 9 reads none of it, but may be in a tile with it.
  Setting setting{.fill = Fill::uniform};
  const auto p = problem<Conv2dWinograd>("n=1,c=1,f=1,h=6,w=6");
  Buffer<float> x = zeros_but(36, 0, 0), w = zeros_but(9, 0, 0);
  std::ranges::fill(x, 1.0F);
  std::ranges::fill(w, 1.0F);
  x[0] = 1e6F;
  const Conv2dWinograd::Input in{{std::move(x), std::move(w), {}}};
  Conv2d::Output out{Buffer<float>(16)};
  std::ranges::fill(out.y, 9.0F);
  out.y[0] = 1e6F + 8;
  EXPECT_TRUE(Conv2d::judge(p, in, Conv2d::expect(p, in, setting), out).agrees);
  out.y[15] = 8;  // a tap is lost
  EXPECT_FALSE(Conv2d::judge(p, in, Conv2d::expect(p, in, setting), out).agrees);
  EXPECT_TRUE(Conv2dWinograd::judge(p, in, Conv2dWinograd::expect(p, in, setting), out).agrees);
}

TEST(Conv2dWinograd, TakesWindowsOf3x3ThatMoveByOneOnly) {
  EXPECT_EQ(to_text(problem<Conv2dWinograd>("n=1,c=2,f=3,h=8,w=9,kernel=3,stride=1,pad=1,bias=per_filter")),
            "n=1,c=2,f=3,h=8,w=9,pad=1,bias=per_filter");
  const auto refusal = [](const std::string& extra) -> std::string {
    try {
      problem<Conv2dWinogradDataGradient>("n=1,c=2,f=3,h=8,w=9," + extra);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  for (const std::string name : {"kernel", "kernel_w", "stride", "dilation"}) {
    EXPECT_THAT(refusal(name + "=5"), HasSubstr("'" + name + "' is 5, out of range"));
  }
}

TEST(Conv2dWinograd, NamesAWindowThatDoesNotFit) {
  Setting setting{.fill = Fill::uniform};
  try {
    Conv2dWinograd::make_input(problem<Conv2dWinograd>("n=1,c=1,f=1,h=2,w=9"), setting);
    ADD_FAILURE() << "did not throw";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("conv2d_winograd"));
    EXPECT_THAT(error.what(), HasSubstr("3 x 3 pixels does not fit into a padded image of 2 x 9"));
  }
}

TEST(Conv2dWinogradCost, Counts36ProductsOfATileOrTheFewerOfADirectSum) {
  // 14 x 14 tiles of 36 products in place of 9 per result, 56 of each side but for 2 * 56 in the border.
  const double sums = 2 * 64 * 64;
  const Cost y = Conv2dWinograd::cost(problem<Conv2dWinograd>("n=1,c=64,f=64,h=56,w=56,pad=1"));
  EXPECT_EQ(y.flops - y.avoidable_flops, sums * 14 * 14 * 36);
  EXPECT_EQ(y.bytes_read, 4 * 64 * (56 * 56 + 64 * 9));
  // A result of one pixel has nine products; with a border, one.
  EXPECT_EQ(Conv2dWinograd::cost(problem<Conv2dWinograd>("n=1,c=64,f=64,h=3,w=3")).flops, sums * 9);
  EXPECT_EQ(Conv2dWinograd::cost(problem<Conv2dWinograd>("n=1,c=64,f=64,h=1,w=1,pad=1")).flops, sums);
  // For dx the tiles are those of the image: 2 x 2 of 6 x 6 pixels, which 4 x 4 windows reach.
  const Cost dx =
      Conv2dWinogradDataGradient::cost(problem<Conv2dWinogradDataGradient>("n=1,c=64,f=64,h=6,w=6"));
  EXPECT_EQ(dx.flops, sums * std::min(2 * 2 * 36, 4 * 4 * 9));
}

}  // namespace
}  // namespace assay::conv2d_winograd_test
