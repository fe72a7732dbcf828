#include "assay/ops/gemm.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

namespace assay::gemm_test {
namespace {

using ::testing::ElementsAre;

enum : Index { nn, nt, tn, tt };

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

std::vector<double> oracle(const Gemm::Problem& p, const Gemm::Input& in) {
  Setting setting;
  return Gemm::expect(p, in, setting).value;
}

TEST(Gemm, MatchesAProductWorkedByHand) {
  // [1 2 3; 4 5 6] [7 8; 9 10; 11 12]: 7 + 18 + 33 = 58, 8 + 20 + 36 = 64,
  //                                    28 + 45 + 66 = 139, 32 + 50 + 72 = 154.
  const Gemm::Problem p{.m = 2, .n = 2, .k = 3};
  const Gemm::Input in{numbers({1, 2, 3, 4, 5, 6}), numbers({7, 8, 9, 10, 11, 12}), {}};
  EXPECT_THAT(oracle(p, in), ElementsAre(58, 64, 139, 154));
}

TEST(Gemm, ReadsTransposedOperandsByTheirStoredRows) {
  // The product above, with A stored as [1 4; 2 5; 3 6] and B as [7 9 11; 8 10 12] where transposed.
  const auto expect_product = [](Index trans, std::initializer_list<float> a,
                                 std::initializer_list<float> b) {
    const Gemm::Input in{numbers(a), numbers(b), {}};
    EXPECT_THAT(oracle({.m = 2, .n = 2, .k = 3, .trans = trans}, in), ElementsAre(58, 64, 139, 154))
        << matrix::transposes[static_cast<std::size_t>(trans)];
  };
  expect_product(nn, {1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12});
  expect_product(nt, {1, 2, 3, 4, 5, 6}, {7, 9, 11, 8, 10, 12});
  expect_product(tn, {1, 4, 2, 5, 3, 6}, {7, 8, 9, 10, 11, 12});
  expect_product(tt, {1, 4, 2, 5, 3, 6}, {7, 9, 11, 8, 10, 12});
}

TEST(Gemm, ScalesByAlphaAndAddsBetaTimesC) {
  // 2 [1 2] [3; 4] - 3 * 5 = 2 * 11 - 15 = 7.
  const Gemm::Problem p{.m = 1, .n = 1, .k = 2, .alpha = 2, .beta = -3};
  EXPECT_THAT(oracle(p, {numbers({1, 2}), numbers({3, 4}), numbers({5})}), ElementsAre(7));
}

TEST(Gemm, TimesTheIdentityIsTheMatrix) {
  const Gemm::Problem p{.m = 2, .n = 2, .k = 2};
  const Gemm::Input right{numbers({0.1F, -2, 3e7F, 4}), numbers({1, 0, 0, 1}), {}};
  const Gemm::Input left{numbers({1, 0, 0, 1}), numbers({0.1F, -2, 3e7F, 4}), {}};
  EXPECT_THAT(oracle(p, right), ElementsAre(0.1F, -2, 3e7F, 4));
  EXPECT_THAT(oracle(p, left), ElementsAre(0.1F, -2, 3e7F, 4));
}

TEST(Gemm, OfTransposedOperandsInReverseOrderIsTheTranspose) {
  // (A B)^T = B^T A^T: what is stored as A and B is read once as nn and once, swapped, as tt.
  Setting setting;
  const Gemm::Problem p{.m = 3, .n = 5, .k = 4};
  auto in = Gemm::make_input(p, setting);
  const auto product = oracle(p, in);
  const auto transposed =
      oracle({.m = 5, .n = 3, .k = 4, .trans = tt}, Gemm::Input{std::move(in.b), std::move(in.a), {}});
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(product[i * 5 + j], transposed[j * 3 + i]) << i << ' ' << j;
  }
}

TEST(Gemm, ObjectsToReadingCWhereBetaIsZero) {
  // Outputs start as NaN, and 0 * NaN is NaN.
  Registry registry;
  registry.add<Gemm>(
      {.name = "naive", .run = [](const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
         out.c[0] = in.a[0] * in.b[0] + static_cast<float>(p.beta) * out.c[0];
       }});
  EXPECT_FALSE(registry.at(Gemm::name).open("m=1,n=1,k=1", {})->check(0, {}).agrees);
  EXPECT_TRUE(registry.at(Gemm::name).open("m=1,n=1,k=1,beta=1", {})->check(0, {}).agrees);
}

TEST(Gemm, NaiveIgnoresNanInCWhereBetaIsZero) {
  const Registry registry = Registry::linked();
  EXPECT_TRUE(registry.at("gemm").open("m=3,n=4,k=5", {})->check(0, {}).agrees);
}

TEST(Gemm, AsksForTheSameValueOfIntegersOnly) {
  Setting exact{.fill = Fill::exact}, uniform{.fill = Fill::uniform};
  const Gemm::Problem p{.m = 2, .n = 2, .k = 50};
  const auto integers = Gemm::make_input(p, exact);
  const auto reals = Gemm::make_input(p, uniform);
  EXPECT_THAT(Gemm::expect(p, integers, exact).bound, ::testing::Each(0));
  EXPECT_THAT(Gemm::expect(p, reals, uniform).bound, ::testing::Each(::testing::Gt(0)));
}

TEST(Gemm, BoundGrowsWithTheNumberOfRoundings) {
  // k = 1, all ones, fill uniform: g(3) * 1 = 3 u / (1 - 3 u).
  Setting setting{.fill = Fill::uniform};
  const Gemm::Input in{numbers({1}), numbers({1}), {}};
  const double u = 0x1p-24;
  EXPECT_DOUBLE_EQ(Gemm::expect({.m = 1, .n = 1, .k = 1}, in, setting).bound[0], 3 * u / (1 - 3 * u));
}

TEST(Gemm, SamplesLargeProductsWithTheirCorners) {
  // 2^27 multiply-adds are the limit of the full oracle; k stays small to keep the inputs small.
  Setting setting;
  const Gemm::Problem p{.m = 8192, .n = 8193, .k = 2};
  const auto in = Gemm::make_input(p, setting);
  const auto want = Gemm::expect(p, in, setting);
  ASSERT_FALSE(want.where.empty());
  EXPECT_LT(want.where.size(), 5000U);
  EXPECT_TRUE(std::ranges::is_sorted(want.where));
  EXPECT_THAT(want.where, ::testing::IsSupersetOf({Index{0}, p.n - 1, (p.m - 1) * p.n, p.m * p.n - 1}));
}

TEST(Gemm, NeedsNoFactorWhereAlphaIsZero) {
  const Cost usual = Gemm::cost({.m = 2, .n = 3, .k = 5});
  EXPECT_EQ(usual.avoidable_flops, 0);
  EXPECT_EQ(usual.avoidable_bytes, 0);
  const Cost scaled = Gemm::cost({.m = 2, .n = 3, .k = 5, .alpha = 0, .beta = 1});
  EXPECT_EQ(scaled.flops - scaled.avoidable_flops, 0);
  EXPECT_EQ(scaled.bytes_read - scaled.avoidable_bytes, 4 * 6);
}

/// One product that is expected in a sample alone, from its input, as `spoil` leaves it.
Agreement large_product(Fill fill, const std::function<void(Gemm::Output&)>& spoil) {
  const Gemm::Problem p{.m = 2100, .n = 1030, .k = 65, .trans = tn, .alpha = -2, .beta = 3};
  Setting setting{.fill = fill};
  const Gemm::Input in = Gemm::make_input(p, setting);
  Gemm::Output out = Gemm::make_output(p, in, setting);
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      double sum = 0;
      for (Index l = 0; l < p.k; ++l)
        sum += static_cast<double>(in.a[l * p.m + i]) * static_cast<double>(in.b[l * p.n + j]);
      float& c = out.c[i * p.n + j];
      c = static_cast<float>(-2 * sum + 3 * static_cast<double>(c));
    }
  }
  const Gemm::Expected want = Gemm::expect(p, in, setting);
  EXPECT_FALSE(want.all);
  EXPECT_EQ(want.weights.empty(), fill != Fill::exact);
  spoil(out);
  return Gemm::judge(p, in, want, out);
}

TEST(GemmJudge, SeesEveryElementOfALargeProduct) {
  const Agreement right = large_product(Fill::exact, [](auto&) {});
  EXPECT_TRUE(right.agrees) << right.detail;
  EXPECT_EQ(right.compared, right.total);
  for (const Index at : {Index{7}, Index{1000 * 1030 + 517}, Index{2000 * 1030 + 3}}) {
    const Agreement wrong = large_product(Fill::exact, [at](Gemm::Output& out) { out.c[at] += 1; });
    EXPECT_FALSE(wrong.agrees) << at;
  }
  EXPECT_FALSE(large_product(Fill::exact, [](Gemm::Output& out) {
                 std::swap(out.c[1000 * 1030 + 517], out.c[1000 * 1030 + 518]);
                 if (out.c[1000 * 1030 + 517] == out.c[1000 * 1030 + 518]) out.c[0] += 1;
               }).agrees);
  const Agreement sampled = large_product(Fill::uniform, [](auto&) {});
  EXPECT_TRUE(sampled.agrees) << sampled.detail;
  EXPECT_LT(sampled.compared, sampled.total);
}

/// The verdict on a dot product per element, as `term(sum, a, b)` adds them up, alone as a variant.
template <auto term>
Agreement check_terms(const std::string& problem) {
  const auto run = [](const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
    const auto a = matrix::view(in.a.data(), p.m, p.k, p.a_transposed());
    const auto b = matrix::view(in.b.data(), p.k, p.n, p.b_transposed());
    for (Index i = 0; i < p.m; ++i) {
      for (Index j = 0; j < p.n; ++j) {
        float sum = 0;
        for (Index l = 0; l < p.k; ++l) sum = term(sum, a(i, l), b(l, j));
        out.c[i * p.n + j] = sum;
      }
    }
  };
  Registry registry;
  registry.add<Gemm>({.name = "naive", .run = run});
  return registry.at(Gemm::name).open(problem, {.fill = Fill::exact, .rng = Rng(5)})->check(0, {});
}

constexpr auto usual_term = [](float sum, float a, float b) { return sum + a * b; };

TEST(GemmJudge, ObjectsToOperandsThatAreLeftOutBesideZeros) {
  constexpr auto skips_zeros_of_a = [](float sum, float a, float b) { return a == 0 ? sum : sum + a * b; };
  constexpr auto skips_zeros_of_b = [](float sum, float a, float b) { return b == 0 ? sum : sum + a * b; };
  EXPECT_TRUE(check_terms<skips_zeros_of_a>("m=29,n=47,k=37").agrees) << "no element is 0";
  EXPECT_FALSE(check_terms<skips_zeros_of_a>("m=29,n=47,k=37,values=special").agrees);
  EXPECT_FALSE(check_terms<skips_zeros_of_b>("m=29,n=47,k=37,values=special").agrees);
  const Agreement right = check_terms<usual_term>("m=29,n=47,k=37,values=special");
  EXPECT_TRUE(right.agrees) << right.detail;
}

TEST(GemmJudge, ObjectsToSubnormalNumbersFlushedToZero) {
  constexpr auto flushes = [](float sum, float a, float b) {
    return std::abs(a) < std::numeric_limits<float>::min() ? sum : sum + a * b;
  };
  EXPECT_FALSE(check_terms<flushes>("m=7,n=15,k=9,values=tiny").agrees);
  const Agreement right = check_terms<usual_term>("m=7,n=15,k=9,values=tiny");
  EXPECT_TRUE(right.agrees) << right.detail;
}

}  // namespace
}  // namespace assay::gemm_test
