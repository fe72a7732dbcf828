#include "assay/ops/gemm.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace assay::gemv_test {
namespace {

using ::testing::ElementsAre;
using Problem = Gemv::Problem;

Buffer<float> numbers(std::initializer_list<float> values) {
  Buffer<float> out(static_cast<Index>(values.size()));
  std::ranges::copy(values, out.begin());
  return out;
}

TEST(Gemv, MatchesProductsWorkedByHand) {
  // [1 2 3; 4 5 6] [7 8 9] = [7 + 16 + 27, 28 + 40 + 54], and of its transpose [1 4; 2 5; 3 6] [7 8].
  Setting setting;
  const Gemv::Input in{numbers({1, 2, 3, 4, 5, 6}), numbers({7, 8, 9})};
  EXPECT_THAT(Gemv::expect({.m = 2, .n = 3}, in, setting).value, ElementsAre(50, 122));
  const Gemv::Input transposed{numbers({1, 2, 3, 4, 5, 6}), numbers({7, 8})};
  EXPECT_THAT(Gemv::expect({.m = 2, .n = 3, .trans = 1}, transposed, setting).value, ElementsAre(39, 54, 69));
}

TEST(Gemv, BoundGrowsWithTheLengthOfX) {
  // All ones, so that |A| |x| is the number of terms: 3 g(3), and transposed 2 g(2).
  Setting setting{.fill = Fill::uniform};
  const double u = 0x1p-24;
  const Gemv::Input in{numbers({1, 1, 1, 1, 1, 1}), numbers({1, 1, 1})};
  EXPECT_DOUBLE_EQ(Gemv::expect({.m = 2, .n = 3}, in, setting).bound[0], 9 * u / (1 - 3 * u));
  EXPECT_DOUBLE_EQ(Gemv::expect({.m = 2, .n = 3, .trans = 1}, in, setting).bound[0], 4 * u / (1 - 2 * u));
}

void leaves_out_the_last_term(const Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const matrix::View<float> x{in.x.data(), 1, 0};
  const auto a = matrix::view(in.a.data(), p.results(), p.terms(), p.transposed());
  for (Index i = 0; i < p.results(); ++i) out.y[i] = matrix::element<float>(a, x, i, 0, p.terms() - 1);
}

TEST(GemvJudge, ObjectsToATermLeftOutAtAnyLength) {
  Registry registry;
  registry.add<Gemv>({.name = "naive", .run = leaves_out_the_last_term});
  for (const char* problem : {"m=3,n=17", "m=2,n=50021", "m=50021,n=2,trans=t"}) {
    EXPECT_FALSE(registry.at(Gemv::name).open(problem, {.fill = Fill::exact})->check(0, {}).agrees)
        << problem;
  }
}

TEST(Gemv, CostIsTheMatrixReadOnce) {
  const Cost cost = Gemv::cost({.m = 3, .n = 5, .trans = 1});
  EXPECT_EQ(cost.flops, 30);
  EXPECT_EQ(cost.bytes_read, 4 * (15 + 3));
  EXPECT_EQ(cost.bytes_written, 4 * 5);
}

/// Passes over columns that a zero multiplies.
void skips_zeros(const Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const auto a = matrix::view(in.a.data(), p.results(), p.terms(), p.transposed());
  for (Index i = 0; i < p.results(); ++i) {
    out.y[i] = 0;
    for (Index l = 0; l < p.terms(); ++l) {
      if (in.x[l] != 0) out.y[i] += a(i, l) * in.x[l];
    }
  }
}

TEST(GemvJudge, ObjectsToOperandsThatAreLeftOutBesideZeros) {
  Registry registry;
  registry.add<Gemv>({.name = "naive", .run = skips_zeros});
  const auto verdict = [&](const char* problem) {
    return registry.at(Gemv::name).open(problem, {.fill = Fill::exact, .rng = Rng(5)})->check(0, {}).agrees;
  };
  EXPECT_TRUE(verdict("m=37,n=67"));
  EXPECT_FALSE(verdict("m=37,n=67,values=special"));
  EXPECT_FALSE(verdict("m=37,n=67,trans=t,values=special"));
}

}  // namespace
}  // namespace assay::gemv_test
