#include "assay/ops/gemm.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

namespace assay::gemm_bf16_test {
namespace {

using ::testing::ElementsAre;
using Problem = GemmBf16::Problem;
using Input = GemmBf16::Input;
using Output = GemmBf16::Output;

Buffer<std::uint16_t> numbers(std::initializer_list<float> values) {
  Buffer<std::uint16_t> out(static_cast<Index>(values.size()));
  std::ranges::transform(values, out.begin(), bf16::round);
  return out;
}

TEST(Bf16, RoundsToNearestEven) {
  // 1 is 0x3f80 and its neighbour 1 + 2^-7 is 0x3f81; between them lies 1 + 2^-8.
  EXPECT_EQ(bf16::round(1), 0x3f80);
  EXPECT_EQ(bf16::round(1 + 0x1p-9F), 0x3f80);
  EXPECT_EQ(bf16::round(1 + 0x1p-8F), 0x3f80) << "a tie goes to the even neighbour, here below";
  EXPECT_EQ(bf16::round(1 + 0x1.8p-8F), 0x3f81) << "truncation would give 0x3f80";
  EXPECT_EQ(bf16::round(1 + 3 * 0x1p-8F), 0x3f82) << "and here above";
  EXPECT_EQ(bf16::round(-1 - 0x1.8p-8F), 0xbf81);
}

TEST(Bf16, KeepsSpecialValues) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(bf16::round(infinity), 0x7f80);
  EXPECT_EQ(bf16::round(std::numeric_limits<float>::max()), 0x7f80) << "the nearest is infinity";
  EXPECT_EQ(bf16::round(-0.0F), 0x8000);
  EXPECT_EQ(bf16::round(0x1p-133F), 0x0001) << "the smallest denormal";
  EXPECT_TRUE(std::isnan(bf16::widen(bf16::round(std::bit_cast<float>(0x7f800001U)))));
}

TEST(Bf16, IsItselfWhenWidenedAndRounded) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto x = static_cast<std::uint16_t>(bits);
    if (std::isnan(bf16::widen(x))) continue;
    EXPECT_EQ(bf16::round(bf16::widen(x)), x);
  }
}

TEST(GemmBf16, MatchesAProductWorkedByHandInEveryLayout) {
  // [1 2; 3 4] [5 6; 7 8] = [19 22; 43 50].
  const auto expect_product = [](Index trans, std::initializer_list<float> a,
                                 std::initializer_list<float> b) {
    Setting setting;
    const Input in{numbers(a), numbers(b)};
    EXPECT_THAT(GemmBf16::expect({.m = 2, .n = 2, .k = 2, .trans = trans}, in, setting).value,
                ElementsAre(19, 22, 43, 50))
        << matrix::transposes[static_cast<std::size_t>(trans)];
  };
  expect_product(0, {1, 2, 3, 4}, {5, 6, 7, 8});
  expect_product(1, {1, 2, 3, 4}, {5, 7, 6, 8});
  expect_product(2, {1, 3, 2, 4}, {5, 6, 7, 8});
  expect_product(3, {1, 3, 2, 4}, {5, 7, 6, 8});
}

TEST(GemmBf16, RoundsInputsBeforeTheProduct) {
  Setting setting{.fill = Fill::uniform};
  const Input in = GemmBf16::make_input({.m = 3, .n = 5, .k = 7}, setting);
  Setting again{.fill = Fill::uniform};
  for (const std::uint16_t x : in.a) EXPECT_EQ(x, bf16::round(again.draw()));
}

/// A variant that keeps its sums as `kept` leaves them.
template <float (*kept)(float)>
void summing(const Problem& p, const Input& in, Output& out) {
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      float sum = 0;
      for (Index l = 0; l < p.k; ++l) {
        sum = kept(sum + bf16::widen(in.a[i * p.k + l]) * bf16::widen(in.b[l * p.n + j]));
      }
      out.c[i * p.n + j] = sum;
    }
  }
}
float in_f32(float x) { return x; }
float without_denormals(float x) { return std::abs(x) < 0x1p-126F ? 0 : x; }

Agreement check(void (*run)(const Problem&, const Input&, Output&), const char* problem, Fill fill) {
  Registry registry;
  registry.add<GemmBf16>({.name = "naive", .run = run});
  return registry.at(GemmBf16::name).open(problem, {.fill = fill})->check(0, {});
}

TEST(GemmBf16Judge, ObjectsToSumsKeptInBf16) {
  for (const char* problem : {"m=3,n=4,k=5", "m=3,n=4,k=64", "m=3,n=4,k=2048"}) {
    EXPECT_TRUE(check(summing<in_f32>, problem, Fill::uniform).agrees) << problem;
    EXPECT_FALSE(check(summing<bf16::rounded>, problem, Fill::uniform).agrees) << problem;
  }
  // Integers up to 256 are exact in bf16 as well: only longer sums tell.
  EXPECT_FALSE(check(summing<bf16::rounded>, "m=16,n=16,k=2048", Fill::exact).agrees);
}

/// Takes the upper half of an f32 input where it should take the nearest: what an operand that was
/// converted by truncation looks like.
void truncating(const Problem& p, const Input& in, Output& out) {
  Input lower{Buffer<std::uint16_t>(in.a.size()), Buffer<std::uint16_t>(in.b.size())};
  for (Index i = 0; i < in.a.size(); ++i) lower.a[i] = static_cast<std::uint16_t>(in.a[i] - (in.a[i] & 1U));
  std::ranges::copy(in.b, lower.b.begin());
  summing<in_f32>(p, lower, out);
}

TEST(GemmBf16Judge, ObjectsToAnOperandThatLostItsLastBit) {
  EXPECT_FALSE(check(truncating, "m=3,n=4,k=64", Fill::uniform).agrees);
}

TEST(GemmBf16Judge, AllowsDenormalsToBeFlushed) {
  // 2^-70 2^-60 = 2^-130 is denormal: it may be kept or taken for zero, but no more than that.
  Setting setting{.fill = Fill::uniform};
  const Problem p{.m = 1, .n = 1, .k = 1};
  const Input in{numbers({0x1p-70F}), numbers({0x1p-60F})};
  const auto want = GemmBf16::expect(p, in, setting);
  const auto agrees = [&](float c) {
    Output out{Buffer<float>(1)};
    out.c[0] = c;
    return GemmBf16::judge(p, in, want, out).agrees;
  };
  EXPECT_TRUE(agrees(0x1p-130F));
  EXPECT_TRUE(agrees(without_denormals(0x1p-130F)));
  EXPECT_FALSE(agrees(0x1p-124F));
}

TEST(GemmBf16, CostCountsTwoBytesPerOperand) {
  const Cost cost = GemmBf16::cost({.m = 2, .n = 3, .k = 5});
  EXPECT_EQ(cost.flops, 60);
  EXPECT_EQ(cost.bytes_read, 2 * (10 + 15));
  EXPECT_EQ(cost.bytes_written, 4 * 6);
}

}  // namespace
}  // namespace assay::gemm_bf16_test
