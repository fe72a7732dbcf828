#include "assay/ops/conv2d.hpp"

#include "assay/error.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::conv2d_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

template <class Op>
auto problem(std::string_view text) {
  return parse_problem<typename Op::Problem>("test", text);
}

std::vector<double> y_of(std::string_view text, const Conv2d::Input& in) {
  Setting setting;
  return Conv2d::expect(problem<Conv2d>(text), in, setting).value;
}
std::vector<double> dx_of(std::string_view text, const Conv2dDataGradient::Input& in) {
  Setting setting;
  return Conv2dDataGradient::expect(problem<Conv2dDataGradient>(text), in, setting).value;
}
Conv2dWeightGradient::Expected dw_of(std::string_view text, const Conv2dWeightGradient::Input& in) {
  Setting setting;
  return Conv2dWeightGradient::expect(problem<Conv2dWeightGradient>(text), in, setting);
}

// The image [1 2 3; 4 5 6; 7 8 9] and the kernel [1 2; 3 4].
Buffer<float> nine() { return numbers({1, 2, 3, 4, 5, 6, 7, 8, 9}); }
Buffer<float> four() { return numbers({1, 2, 3, 4}); }

TEST(Conv2d, DoesNotFlipTheKernel) {
  // 1*1 + 2*2 + 3*4 + 4*5 = 37, then 47, 67, 77. Flipped, the first is 4*1 + 3*2 + 2*4 + 1*5 = 23.
  EXPECT_THAT(y_of("n=1,c=1,f=1,h=3,w=3,kernel=2", {nine(), four(), {}}), ElementsAre(37, 47, 67, 77));
}

TEST(Conv2d, SeesZerosInTheBorderAndMovesByTheStride) {
  // Windows at rows and columns -1 and 1: 4*1; 3*2 + 4*3; 2*4 + 4*7; 1*5 + 2*6 + 3*8 + 4*9.
  EXPECT_THAT(y_of("n=1,c=1,f=1,h=3,w=3,kernel=2,stride=2,pad=1", {nine(), four(), {}}),
              ElementsAre(4, 18, 36, 77));
}

TEST(Conv2d, SpreadsTheTapsByTheDilation) {
  // The corners: 1*1 + 2*3 + 3*7 + 4*9 = 64.
  EXPECT_THAT(y_of("n=1,c=1,f=1,h=3,w=3,kernel=2,dilation=2", {nine(), four(), {}}), ElementsAre(64));
}

TEST(Conv2d, TellsLeftFromRight) {
  // [1 2] under [3 5]. Border on the left: 5*1, 3*1 + 5*2. On the right: 3*1 + 5*2, 3*2.
  const Conv2d::Input in{numbers({1, 2}), numbers({3, 5}), {}};
  EXPECT_THAT(y_of("n=1,c=1,f=1,h=1,w=2,kernel=1,kernel_w=2,left=1", in), ElementsAre(5, 13));
  EXPECT_THAT(y_of("n=1,c=1,f=1,h=1,w=2,kernel=1,kernel_w=2,right=1", in), ElementsAre(13, 6));
}

TEST(Conv2d, SumsOverChannelsAndAddsTheBiasOfTheFilter) {
  // 1*2 + 10*3 + 100 = 132, -1*2 + 5*3 + 200 = 213.
  const Conv2d::Input in{numbers({2, 3}), numbers({1, 10, -1, 5}), numbers({100, 200})};
  EXPECT_THAT(y_of("n=1,c=2,f=2,h=1,w=1,kernel=1,bias=per_filter", in), ElementsAre(132, 213));
}

TEST(Conv2d, SumsOverTheChannelsOfTheGroupOfAFilter) {
  // Channels 2, 3 | 5, 7 under filters (1, 10), (100, 1000) | (1, 1), (2, 3).
  const Conv2d::Input in{numbers({2, 3, 5, 7}), numbers({1, 10, 100, 1000, 1, 1, 2, 3}), {}};
  EXPECT_THAT(y_of("n=1,c=4,f=4,h=1,w=1,kernel=1,groups=2", in), ElementsAre(32, 3200, 12, 31));
}

TEST(ConvolutionGradients, StayInTheGroupOfAFilter) {
  // dy = 1, 2 | 3, 4: dx = 1*1 + 2*100, 1*10 + 2*1000 | 3*1 + 4*2, 3*1 + 4*3; dw = dy times its own channels.
  constexpr std::string_view layer = "n=1,c=4,f=4,h=1,w=1,kernel=1,groups=2";
  EXPECT_THAT(dx_of(layer, {numbers({1, 2, 3, 4}), numbers({1, 10, 100, 1000, 1, 1, 2, 3})}),
              ElementsAre(201, 2010, 11, 15));
  EXPECT_THAT(dw_of(layer, {numbers({2, 3, 5, 7}), numbers({1, 2, 3, 4})}).dw.value,
              ElementsAre(2, 3, 4, 6, 15, 21, 20, 28));
}

TEST(Conv2dDataGradient, SpreadsEachElementOverItsWindow) {
  // The kernel at (0, 0), and twice the kernel at (1, 1): [1 2 0; 3 4+2 4; 0 6 8].
  EXPECT_THAT(dx_of("n=1,c=1,f=1,h=3,w=3,kernel=2", {numbers({1, 0, 0, 2}), four()}),
              ElementsAre(1, 2, 0, 3, 6, 4, 0, 6, 8));
}

TEST(Conv2dDataGradient, IsZeroWhereNoWindowReaches) {
  EXPECT_THAT(dx_of("n=1,c=1,f=1,h=1,w=4,kernel=1,stride=2", {numbers({5, 7}), numbers({2})}),
              ElementsAre(10, 0, 14, 0));
}

TEST(Conv2dWeightGradient, CorrelatesTheImageWithDy) {
  // x[k, l] + 2 x[k + 1, l + 1]: 1 + 10, 2 + 12, 4 + 16, 5 + 18; dbias = 1 + 2.
  const auto want = dw_of("n=1,c=1,f=1,h=3,w=3,kernel=2,bias=per_filter", {nine(), numbers({1, 0, 0, 2})});
  EXPECT_THAT(want.dw.value, ElementsAre(11, 14, 20, 23));
  EXPECT_THAT(want.dbias.value, ElementsAre(3));
}

TEST(Conv2dWeightGradient, SumsOverTheBatch) {
  // 2*3 + 5*7 = 41, 3 + 7 = 10.
  const auto want = dw_of("n=2,c=1,f=1,h=1,w=1,kernel=1,bias=per_filter", {numbers({2, 5}), numbers({3, 7})});
  EXPECT_THAT(want.dw.value, ElementsAre(41));
  EXPECT_THAT(want.dbias.value, ElementsAre(10));
}

Buffer<float> copy_of(const Buffer<float>& from) {
  Buffer<float> out(from.size());
  std::ranges::copy(from, out.begin());
  return out;
}

double dot(const std::vector<double>& a, const Buffer<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * static_cast<double>(b[static_cast<Index>(i)]);
  return sum;
}

/// A layer with integers in all its arrays, so that sums in double are exact and compared as such.
struct Drawn {
  explicit Drawn(const conv2d::Problem& from)
      : p(from), text(to_text(from)), in(Conv2d::make_input(p, setting)) {
    dy = Buffer<float>(p.y_size());
    for (float& v : dy) v = setting.draw();
    std::string data_text = text;
    if (const auto at = data_text.find(",bias="); at != std::string::npos) data_text.resize(at);
    dx = dx_of(data_text, {copy_of(dy), copy_of(in.w)});
    auto weights = dw_of(text, {copy_of(in.x), copy_of(dy)});
    dw = weights.dw.value;
    dbias = weights.dbias.value;
  }
  /// <y, dy>: the function whose gradients dx, dw and dbias are.
  double loss() const { return dot(y_of(text, in), dy); }

  Setting setting;
  conv2d::Problem p;
  std::string text;
  Conv2d::Input in;
  Buffer<float> dy;
  std::vector<double> dx, dw, dbias;
};

TEST(ConvolutionGradients, AreTransposesOfTheForwardMapAtEveryCorner) {
  // <w * x, dy> = <x, dx> = <w, dw>, and the bias adds <bias, dbias>.
  for (const auto& p : Conv2d::corner_cases()) {
    const Drawn layer(p);
    const double of_bias = p.has_bias() ? dot(layer.dbias, layer.in.bias) : 0;
    EXPECT_EQ(layer.loss() - of_bias, dot(layer.dx, layer.in.x)) << layer.text;
    EXPECT_EQ(layer.loss() - of_bias, dot(layer.dw, layer.in.w)) << layer.text;
  }
}

TEST(ConvolutionGradients, AreWhatAStepOfOneChangesTheLossBy) {
  // The loss is linear in each array alone, so that a difference over a step of any length is the derivative.
  for (const std::string_view text :
       {"n=2,c=2,f=3,h=5,w=4,kernel=3,pad=1,bias=per_filter",
        "n=1,c=2,f=2,h=7,w=6,kernel=3,kernel_w=2,stride=2,dilation=2,pad=1,left=2,bias=per_filter"}) {
    Drawn layer(problem<Conv2d>(text));
    const double before = layer.loss();
    const auto expect_slopes = [&](Buffer<float>& array, const std::vector<double>& gradient,
                                   std::string_view name) {
      ASSERT_EQ(array.size(), static_cast<Index>(gradient.size()));
      for (Index i = 0; i < array.size(); ++i) {
        array[i] += 1;
        EXPECT_EQ(layer.loss() - before, gradient[static_cast<std::size_t>(i)]) << text << ' ' << name << i;
        array[i] -= 1;
      }
    };
    expect_slopes(layer.in.x, layer.dx, "x");
    expect_slopes(layer.in.w, layer.dw, "w");
    expect_slopes(layer.in.bias, layer.dbias, "bias");
  }
}

TEST(Conv2d, BoundGrowsWithTheNumberOfRoundings) {
  // One product of ones and a bias of one, fill uniform: g(2) (1 + 1).
  Setting setting{.fill = Fill::uniform};
  const double u = 0x1p-24;
  const Conv2d::Input in{numbers({1}), numbers({1}), numbers({1})};
  const auto want =
      Conv2d::expect(problem<Conv2d>("n=1,c=1,f=1,h=1,w=1,kernel=1,bias=per_filter"), in, setting);
  EXPECT_DOUBLE_EQ(want.bound[0], 2 * (2 * u / (1 - 2 * u)));
}

TEST(Conv2d, AsksForTheSameValueOfIntegers) {
  Setting setting{.fill = Fill::exact};
  const auto p = problem<Conv2d>("n=1,c=5,f=2,h=6,w=6,kernel=3");
  const auto in = Conv2d::make_input(p, setting);
  EXPECT_THAT(Conv2d::expect(p, in, setting).bound, Each(0));
}

TEST(Conv2d, SamplesALargeLayerWithItsCorners) {
  Setting setting;
  const auto p = problem<Conv2d>("n=1,c=64,f=64,h=56,w=56,kernel=3,pad=1");
  const auto want = Conv2d::expect(p, Conv2d::make_input(p, setting), setting);
  EXPECT_GE(want.where.size(), 256U);
  EXPECT_LE(want.where.size(), 4112U);
  EXPECT_TRUE(std::ranges::is_sorted(want.where));
  EXPECT_THAT(want.where, ::testing::IsSupersetOf({Index{0}, Index{55}, Index{56 * 56 - 1}, p.y_size() - 1}));
}

TEST(Conv2d, NamesAWindowThatDoesNotFit) {
  Setting setting;
  try {
    Conv2d::make_input(problem<Conv2d>("n=1,c=1,f=1,h=4,w=9,kernel=3,dilation=2"), setting);
    ADD_FAILURE() << "did not throw";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("5 x 5 pixels does not fit into a padded image of 4 x 9"));
  }
}

TEST(Conv2d, NamesGroupsThatDoNotDivideChannelsAndFilters) {
  Setting setting;
  for (const char* text :
       {"n=1,c=4,f=6,h=4,w=4,kernel=3,groups=4", "n=1,c=6,f=4,h=4,w=4,kernel=3,groups=3"}) {
    try {
      Conv2d::make_input(problem<Conv2d>(text), setting);
      ADD_FAILURE() << "did not throw";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(" groups do not divide ")) << text;
    }
  }
}

TEST(Conv2d, LeavesASingleGroupOutOfItsText) {
  constexpr std::string_view layer = "n=1,c=4,f=6,h=4,w=4,kernel=3";
  EXPECT_EQ(to_text(problem<Conv2d>(std::string(layer) + ",groups=1")), layer);
  EXPECT_EQ(to_text(problem<Conv2d>(std::string(layer) + ",groups=2")), std::string(layer) + ",groups=2");
}

/// Returns the judgement of one variant that is planted in place of the naive one.
template <class Op>
Agreement judge_planted(std::string_view text, void (*run)(const typename Op::Problem&,
                                                           const typename Op::Input&, typename Op::Output&)) {
  Registry registry;
  registry.add<Op>({.name = "naive", .run = run});
  return registry.at(Op::name).open(text, {})->check(0, {}, Workload::no_rehearsal);
}

TEST(Conv2d, RejectsAKernelThatIsFlipped) {
  const auto flipped = [](const Conv2d::Problem& p, const Conv2d::Input& in, Conv2d::Output& out) {
    for (Index i = 0; i < p.out_pixels(); ++i) {
      out.y[i] = in.x[i] * in.w[1] + in.x[i + 1] * in.w[0];
    }
  };
  EXPECT_FALSE(judge_planted<Conv2d>("n=1,c=1,f=1,h=1,w=9,kernel=1,kernel_w=2", flipped).agrees);
}

TEST(Conv2dDataGradient, RejectsPixelsThatAreLeftUnwritten) {
  const auto scattered = [](const conv2d::DataProblem& p, const Conv2dDataGradient::Input& in,
                            Conv2dDataGradient::Output& out) {
    for (Index j = 0; j < p.out_pixels(); ++j) out.dx[j * p.stride] = in.dy[j] * in.w[0];
  };
  EXPECT_FALSE(judge_planted<Conv2dDataGradient>("n=1,c=1,f=1,h=1,w=4,kernel=1,stride=2", scattered).agrees);
  EXPECT_TRUE(judge_planted<Conv2dDataGradient>("n=1,c=1,f=1,h=1,w=4,kernel=1", scattered).agrees);
}

TEST(Conv2dWeightGradient, RejectsASumThatLeavesOutTheLastImage) {
  const auto partial = [](const conv2d::Problem& p, const Conv2dWeightGradient::Input& in,
                          Conv2dWeightGradient::Output& out) {
    out.dw[0] = 0;
    for (Index i = 0; i < std::max<Index>(1, p.n - 1); ++i) out.dw[0] += in.x[i] * in.dy[i];
  };
  EXPECT_TRUE(judge_planted<Conv2dWeightGradient>("n=1,c=1,f=1,h=1,w=1,kernel=1", partial).agrees);
  EXPECT_FALSE(judge_planted<Conv2dWeightGradient>("n=3,c=1,f=1,h=1,w=1,kernel=1", partial).agrees);
}

/// Walks the terms of all sums of y: elements that they read, and operations.
struct Terms {
  double count = 0;
  std::set<Index> x, w, y;
  explicit Terms(const conv2d::Problem& p) {
    const Window window = p.window();
    const conv2d::Sums sums{{p.n, p.f, window.out_h(), window.out_w()}};
    for (Index flat = 0; flat < sums.size(); ++flat) {
      sums.at(flat, [&](Index n, Index f, Index i, Index j) {
        conv2d::terms_of_y(p, n, f, i, j, [&](Index in_x, Index in_w) {
          ++count;
          x.insert(in_x);
          w.insert(in_w);
          y.insert(flat);
        });
      });
    }
  }
};

TEST(Conv2dCost, LeavesOutWhatMeetsThePaddingAloneOrNothing) {
  const auto needed = [](const Cost& cost) {
    return std::pair{cost.flops - cost.avoidable_flops, cost.bytes_read - cost.avoidable_bytes};
  };
  for (const char* text :
       {"n=2,c=3,f=2,h=5,w=4,kernel=3,pad=1", "n=2,c=3,f=2,h=5,w=6,kernel=1,stride=2",
        "n=1,c=2,f=3,h=1,w=1,kernel=3,pad=1", "n=1,c=2,f=1,h=3,w=4,kernel=2,stride=3,dilation=2,pad=4",
        "n=1,c=1,f=1,h=4,w=4,kernel=2", "n=2,c=4,f=6,h=5,w=4,kernel=3,pad=1,groups=2"}) {
    auto p = problem<Conv2d>(text);
    const Terms terms(p);
    const auto x = static_cast<double>(terms.x.size()), w = static_cast<double>(terms.w.size()),
               y = static_cast<double>(terms.y.size()), flops = 2 * terms.count;
    EXPECT_EQ(needed(Conv2d::cost(p)), std::pair(flops, 4 * (x + w)));
    conv2d::DataProblem data;
    static_cast<conv2d::Layer&>(data) = p;
    EXPECT_EQ(needed(Conv2dDataGradient::cost(data)), std::pair(flops, 4 * (y + w)));
    EXPECT_EQ(needed(Conv2dWeightGradient::cost(p)), std::pair(flops, 4 * (x + y)));
    p.bias = 1;
    const auto all_of_y = static_cast<double>(p.y_size());
    EXPECT_EQ(needed(Conv2dWeightGradient::cost(p)).second, 4 * (x + all_of_y)) << "their sum is asked for";
  }
}

}  // namespace
}  // namespace assay::conv2d_test
