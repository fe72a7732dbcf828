#include "assay/ops/rounded.hpp"

#include "assay/random.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace assay::rounded_test {
namespace {

constexpr double u = 0x1p-24;

bool holds(Rounded bound, float computed) {
  return std::abs(static_cast<double>(computed) - bound.value) <= bound.bound();
}

TEST(Rounded, TakesConstantsAsF32Has) {
  EXPECT_EQ(Rounded(0.5).deviation, 0);
  EXPECT_EQ(Rounded(0.1).deviation, u * 0.1);
  EXPECT_TRUE(holds(Rounded(0.1), 0.1F));
}

TEST(Rounded, AddsSquaresOfTheDeviationsOfASum) {
  const Rounded sum = Rounded(2, 3e-3) + Rounded(1, 4e-3);
  EXPECT_EQ(sum.value, 3);
  EXPECT_NEAR(sum.deviation, 5e-3, 1e-10);
}

TEST(Rounded, AddsARoundingOfTheResult) {
  EXPECT_EQ((Rounded(2, 0) + Rounded(1, 0)).deviation, 3 * u);
  EXPECT_EQ((Rounded(2, 0) * Rounded(3, 0)).deviation, 6 * u);
}

TEST(Rounded, CarriesDeviationsThroughByTheSlopes) {
  // Slopes of x y: y and x; of x / y: 1 / y and x / y^2; of a root: 1 / (2 root); of exp: exp; of log: 1 / x.
  EXPECT_NEAR((Rounded(3, 2e-3) * Rounded(2, 1e-3)).deviation, 5e-3, 1e-9);
  EXPECT_NEAR((Rounded(4, 3e-3) / Rounded(2, 2e-3)).deviation, 2.5e-3, 1e-9);
  EXPECT_NEAR(sqrt(Rounded(4, 1e-3)).deviation, 0.25e-3, 1e-9);
  EXPECT_NEAR(exp(Rounded(2, 1e-3)).deviation, std::exp(2) * 1e-3, 1e-8);
  EXPECT_NEAR(log(Rounded(4, 1e-3)).deviation, 0.25e-3, 1e-9);
}

TEST(Rounded, HasNoBoundWhereADenominatorOrARootMayBeZero) {
  EXPECT_TRUE(std::isinf((Rounded(1.0) / Rounded(0.1, 0.2)).bound()));
  EXPECT_TRUE(std::isinf(sqrt(Rounded(0.1, 0.2)).bound()));
}

TEST(Rounded, LeavesZerosOfThePaddingWithoutError) {
  EXPECT_TRUE((Rounded(0.0) * Rounded(2, 0.25)).is_exact_zero());
  EXPECT_EQ((Rounded(0.0) + Rounded(2, 0.25)).deviation, 0.25);
}

/// One text, in float and in Rounded.
template <class Real>
Real chain(Real x, Real y) {
  using std::exp, std::log, std::sqrt;
  const Real a = exp(x) / (y + Real(2)), b = sqrt(a * a + y * y) - x;
  return log(Real(1) + b * b) * a - x * y / Real(3);
}

TEST(Rounded, BoundsASinglePrecisionChainOfOperations) {
  Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    const auto x = static_cast<float>(rng.uniform(-4, 4)), y = static_cast<float>(rng.uniform(0, 4));
    const Rounded bound = chain(Rounded(static_cast<double>(x)), Rounded(static_cast<double>(y)));
    ASSERT_TRUE(holds(bound, chain(x, y))) << x << " " << y;
    ASSERT_LT(bound.bound(), 1e-2) << x << " " << y;
  }
}

struct Products {
  std::vector<float> a, b;
  float in_order(bool backwards) const {
    float sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::size_t at = backwards ? a.size() - 1 - i : i;
      sum += a[at] * b[at];
    }
    return sum;
  }
  float in_parts(std::size_t parts) const {
    std::vector<float> sums(parts);
    for (std::size_t i = 0; i < a.size(); ++i) sums[i % parts] = std::fma(a[i], b[i], sums[i % parts]);
    float sum = 0;
    for (const float part : sums) sum += part;
    return sum;
  }
  Rounded bound() const {
    Sum<Rounded> sum;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum.add(Rounded(static_cast<double>(a[i])) * Rounded(static_cast<double>(b[i])));
    }
    return sum.result();
  }
};

TEST(Rounded, BoundsASumInEveryOrder) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng(seed);
    Products of{std::vector<float>(1000), std::vector<float>(1000)};
    for (float& x : of.a) x = static_cast<float>(rng.uniform(-1, 1));
    for (float& x : of.b) x = static_cast<float>(rng.uniform(-1, 1));
    const Rounded bound = of.bound();
    for (const float sum : {of.in_order(false), of.in_order(true), of.in_parts(16)}) {
      // Twice the deviation is enough, and far from all that bound() grants.
      EXPECT_LE(std::abs(static_cast<double>(sum) - bound.value), 2 * bound.deviation) << seed;
    }
    of.a[500] = of.b[500] = 0.5F;
    const Rounded with_term = of.bound();
    of.a[500] = 0;
    EXPECT_FALSE(holds(with_term, of.in_order(false))) << "a term left out passes, seed " << seed;
  }
}

TEST(Rounded, IsDoublePrecisionBesides) {
  EXPECT_EQ(chain(Rounded(1.25), Rounded(0.5)).value, chain(1.25, 0.5));
}

}  // namespace
}  // namespace assay::rounded_test
