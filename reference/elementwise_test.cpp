#include "assay/ops/elementwise.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace assay::elementwise_test {
namespace {

using elementwise::Layout;
using ::testing::ElementsAre;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

template <class Op>
std::vector<double> oracle(const typename Op::Problem& p, const typename Op::Input& in) {
  Setting setting;
  return Op::expect(p, in, setting).value;
}

/// A variant of `Op` under test, alone with its planted fault, on one problem.
template <class Op>
Agreement check(void (*run)(const typename Op::Problem&, const typename Op::Input&, typename Op::Output&),
                const char* problem, Fill fill = Fill::exact) {
  Registry registry;
  registry.add<Op>({.name = "naive", .run = run});
  return registry.at(Op::name).open(problem, {.fill = fill, .rng = Rng(5)})->check(0, {});
}

TEST(ElementwiseMultiply, MatchesNumbersWorkedByHand) {
  // alpha x y + beta z with alpha = 2, beta = -3: 2*2*5 - 3*1 = 17, 2*3*-1 - 3*2 = -12, 2*-4*0.5 - 3*-1 = -1.
  const ElementwiseMultiply::Problem p{.w = 3, .alpha = 2, .beta = -3};
  const ElementwiseMultiply::Input in{numbers({2, 3, -4}), numbers({5, -1, 0.5}), numbers({1, 2, -1})};
  EXPECT_THAT(oracle<ElementwiseMultiply>(p, in), ElementsAre(17, -12, -1));
}

TEST(ElementwiseAdd, MatchesNumbersWorkedByHand) {
  // x + alpha y + beta z with alpha = -2, beta = 4: 1 - 2*3 + 4*5 = 15, 0.5 - 2*-1 + 4*0 = 2.5.
  const ElementwiseAdd::Problem p{.w = 2, .alpha = -2, .beta = 4};
  const ElementwiseAdd::Input in{numbers({1, 0.5}), numbers({3, -1}), numbers({5, 0})};
  EXPECT_THAT(oracle<ElementwiseAdd>(p, in), ElementsAre(15, 2.5));
}

TEST(ElementwiseAdd, OfTheNegatedOperandIsZero) {
  const ElementwiseAdd::Problem p{.w = 3, .alpha = -1};
  const ElementwiseAdd::Input in{numbers({1.1F, -7, 1e30F}), numbers({1.1F, -7, 1e30F}), {}};
  EXPECT_THAT(oracle<ElementwiseAdd>(p, in), ElementsAre(0, 0, 0));
}

TEST(ElementwiseMultiply, RepeatsOneNumberPerChannel) {
  // n = 1, c = 2, h = 1, w = 2, y[c] = 10, 100.
  const ElementwiseMultiply::Problem nchw{.c = 2, .w = 2, .layout = Index(Layout::per_channel)};
  const ElementwiseMultiply::Problem nhwc{.c = 2, .w = 2, .layout = Index(Layout::per_channel_last)};
  const ElementwiseMultiply::Input in{numbers({1, 2, 3, 4}), numbers({10, 100}), {}};
  EXPECT_THAT(oracle<ElementwiseMultiply>(nchw, in), ElementsAre(10, 20, 300, 400));
  EXPECT_THAT(oracle<ElementwiseMultiply>(nhwc, in), ElementsAre(10, 200, 30, 400));
}

TEST(ElementwiseAdd, ReadsXWithChannelsLastWhereSaid) {
  // x[h=0, w=0..1, c=0..1] = 1 2 3 4 in memory, so x[c=0] = 1 3 and x[c=1] = 2 4; y and z are NCHW.
  const ElementwiseAdd::Problem p{.c = 2, .w = 2, .layout = Index(Layout::x_channels_last)};
  const ElementwiseAdd::Input in{numbers({1, 2, 3, 4}), numbers({10, 20, 30, 40}), {}};
  EXPECT_THAT(oracle<ElementwiseAdd>(p, in), ElementsAre(11, 23, 32, 44));
}

TEST(ElementwiseRelu, KeepsBordersAndReadsTheInterior) {
  // One pixel inside a border of one: 3 x 3 elements of memory, the pixel in the middle.
  const ElementwiseRelu::Problem p{.layout = Index(Layout::bordered)};
  const ElementwiseRelu::Input in{numbers({1, 2, 3, 4, 5, 6, 7, 8, 9}), {}, {}};
  const auto z = oracle<ElementwiseRelu>(p, in);
  ASSERT_EQ(z.size(), 9U);
  EXPECT_EQ(z[4], 5);
  for (const std::size_t border : {0U, 1U, 2U, 3U, 5U, 6U, 7U, 8U}) {
    EXPECT_TRUE(is_poison(static_cast<float>(z[border]))) << border;
  }
}

TEST(ElementwiseRelu, KeepsNanAndNegativeZero) {
  using Limits = std::numeric_limits<float>;
  const ElementwiseRelu::Problem p{.w = 5};
  const ElementwiseRelu::Input in{
      numbers({-0.0F, -Limits::infinity(), Limits::infinity(), -Limits::denorm_min(), Limits::quiet_NaN()}),
      {},
      {}};
  const auto z = oracle<ElementwiseRelu>(p, in);
  EXPECT_TRUE(z[0] == 0 && std::signbit(z[0]));
  EXPECT_TRUE(z[1] == 0 && !std::signbit(z[1]));
  EXPECT_EQ(z[2], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(z[3] == 0 && !std::signbit(z[3]));
  EXPECT_TRUE(std::isnan(z[4]));
}

TEST(ElementwiseJudge, ObjectsToReluThatDropsNan) {
  const auto faulty = [](const ElementwiseRelu::Problem& p, const ElementwiseRelu::Input& in,
                         ElementwiseRelu::Output& out) {
    for (Index i = 0; i < p.w; ++i) out.z[i] = in.x[i] > 0 ? in.x[i] : in.x[i] == 0 ? in.x[i] : 0;
  };
  EXPECT_FALSE(check<ElementwiseRelu>(faulty, "n=1,c=1,h=1,w=9,values=special").agrees);
  EXPECT_TRUE(check<ElementwiseRelu>(faulty, "n=1,c=1,h=1,w=9").agrees);
}

TEST(ElementwiseJudge, ObjectsToReluThatLosesTheSignOfZero) {
  const auto faulty = [](const ElementwiseRelu::Problem& p, const ElementwiseRelu::Input& in,
                         ElementwiseRelu::Output& out) {
    for (Index i = 0; i < p.w; ++i) out.z[i] = in.x[i] <= 0 ? 0 : in.x[i];
  };
  const Agreement outcome = check<ElementwiseRelu>(faulty, "n=1,c=1,h=1,w=9,values=special");
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, ::testing::HasSubstr("z[0, 0, 0, 3] is 0.0"));
}

TEST(ElementwiseJudge, ObjectsToReadingZWhereBetaIsZero) {
  const auto faulty = [](const ElementwiseAdd::Problem& p, const ElementwiseAdd::Input& in,
                         ElementwiseAdd::Output& out) {
    for (Index i = 0; i < p.w; ++i) out.z[i] = in.x[i] + in.y[i] + static_cast<float>(p.beta) * out.z[i];
  };
  EXPECT_FALSE(check<ElementwiseAdd>(faulty, "n=1,c=1,h=1,w=9").agrees);
  EXPECT_TRUE(check<ElementwiseAdd>(faulty, "n=1,c=1,h=1,w=9,beta=1").agrees);
}

TEST(ElementwiseJudge, ObjectsToWritingTheBorder) {
  // The whole rows of the padded image, border included: y is read as if it had the same pitch.
  const auto faulty = [](const ElementwiseMultiply::Problem& p, const ElementwiseMultiply::Input& in,
                         ElementwiseMultiply::Output& out) {
    const auto view = p.views();
    for (Index w = 0; w < p.w; ++w) {
      out.z[view.z.at(0, 0, 0, w)] = in.x[view.x.at(0, 0, 0, w)] * in.y[view.y.at(0, 0, 0, w)];
    }
    out.z[view.z.at(0, 0, 0, p.w)] = in.x[view.x.at(0, 0, 0, p.w)];
  };
  const Agreement outcome = check<ElementwiseMultiply>(faulty, "n=1,c=1,h=1,w=5,layout=bordered");
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, ::testing::HasSubstr("z[0, 0, 1, 6]"));
}

TEST(ElementwiseJudge, NamesTheBorderWhenItHoldsAnotherNan) {
  const ElementwiseRelu::Problem p{.layout = Index(Layout::bordered)};
  Setting setting;
  const auto in = ElementwiseRelu::make_input(p, setting);
  const auto want = ElementwiseRelu::expect(p, in, setting);
  auto out = ElementwiseRelu::make_output(p, in, setting);
  out.z[4] = static_cast<float>(want.value[4]);
  EXPECT_TRUE(ElementwiseRelu::judge(p, in, want, out).agrees);
  out.z[8] = std::numeric_limits<float>::quiet_NaN();
  const Agreement outcome = ElementwiseRelu::judge(p, in, want, out);
  EXPECT_FALSE(outcome.agrees);
  EXPECT_THAT(outcome.detail, ::testing::HasSubstr("outside the view"));
}

TEST(ElementwiseJudge, AsksForTheRoundedResultWhereOneRoundingIsAllowed) {
  const auto faulty = [](const ElementwiseMultiply::Problem& p, const ElementwiseMultiply::Input& in,
                         ElementwiseMultiply::Output& out) {
    for (Index i = 0; i < p.w; ++i) out.z[i] = std::nextafter(in.x[i] * in.y[i], 9.0F);
  };
  EXPECT_FALSE(check<ElementwiseMultiply>(faulty, "n=1,c=1,h=1,w=9", Fill::uniform).agrees);
}

template <class Op>
class ElementwiseContract : public ::testing::Test {};
using Contracts = ::testing::Types<ElementwiseMultiply, ElementwiseAdd, ElementwiseRelu>;
TYPED_TEST_SUITE(ElementwiseContract, Contracts);

TYPED_TEST(ElementwiseContract, CostCountsEachOperandOnce) {
  // 2 * 3 * 4 * 5 = 120 elements; a broadcast y[c] is 3 numbers, not 120.
  const typename TypeParam::Problem dense{.n = 2, .c = 3, .h = 4, .w = 5};
  const bool unary = std::is_same_v<TypeParam, ElementwiseRelu>;
  EXPECT_EQ(TypeParam::cost(dense).bytes_read, unary ? 480 : 960);
  EXPECT_EQ(TypeParam::cost(dense).bytes_written, 480);
  if (unary) return;
  const typename TypeParam::Problem bias{.n = 2, .c = 3, .h = 4, .w = 5, .layout = 4, .beta = 1};
  EXPECT_EQ(TypeParam::cost(bias).bytes_read, 480 + 12 + 480);
}

TYPED_TEST(ElementwiseContract, ViewsReachDistinctElementsInsideTheirMemory) {
  for (const auto& p : TypeParam::corner_cases()) {
    const auto view = p.views();
    if (p.n * p.c * p.h * p.w > 4096) continue;
    std::vector<bool> reached(static_cast<std::size_t>(view.z.size()));
    for (Index flat = 0; flat < p.n * p.c * p.h * p.w; ++flat) {
      const Index w = flat % p.w, h = flat / p.w % p.h, c = flat / (p.w * p.h) % p.c,
                  n = flat / (p.w * p.h * p.c);
      ASSERT_LT(view.x.at(n, c, h, w), view.x.size()) << to_text(p);
      ASSERT_LT(view.y.at(n, c, h, w), view.y.size()) << to_text(p);
      ASSERT_LT(view.z.at(n, c, h, w), view.z.size()) << to_text(p);
      const auto at = static_cast<std::size_t>(view.z.at(n, c, h, w));
      ASSERT_FALSE(reached[at]) << to_text(p);
      reached[at] = true;
    }
  }
}

}  // namespace
}  // namespace assay::elementwise_test
