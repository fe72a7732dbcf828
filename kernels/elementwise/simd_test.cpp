// Tests the paths of simd.cpp that corner cases are too small to reach: streaming stores, prefetches, and
// shares that start inside a row.

#include "elementwise/loop_nest.hpp"

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::elementwise {
namespace {

template <class Formula>
class Tiers : public ::testing::Test {
 public:
  using Op = Elementwise<Formula>;

  /// One problem by every tier that runs here, with z past the caches and with prefetches,
  /// divided among `parts`.
  static void check(const typename Op::Problem& problem, Index skew, Index parts) {
    Plan plan = elementwise::plan<Formula>(problem, 1);
    plan.stream = problem.beta == 0;
    check(plan, problem, skew, parts);
    plan.stream = false;
    plan.fetch_ahead = true;
    check(plan, problem, skew, parts);
  }

 private:
  static void check(const Plan& plan, const typename Op::Problem& problem, Index skew, Index parts) {
    Setting setting{.fill = Fill::uniform, .rng = Rng(11), .placement = {.skew = skew}};
    const auto in = Op::make_input(problem, setting);
    const auto want = Op::expect(problem, in, setting);
    for (const Tier& tier : tiers()) {
      if (tier.unfit) continue;
      auto out = Op::make_output(problem, in, setting);
      for (Index part = 0; part < parts; ++part) {
        tier.function(plan.nest, share(plan.nest, part, parts), plan.operands(in, out));
      }
      const Agreement outcome = Op::judge(problem, in, want, out);
      EXPECT_TRUE(outcome.agrees && out.z.guards_intact())
          << tier.name << ' ' << to_text(problem) << " skew " << skew << " in " << parts << ": "
          << outcome.detail;
    }
  }
};
using Formulas = ::testing::Types<Multiply, Add, Relu>;
TYPED_TEST_SUITE(Tiers, Formulas);

TYPED_TEST(Tiers, StreamAnyLengthFromAnyStart) {
  for (const Index w : {1, 3, 15, 16, 17, 31, 63, 64, 65, 79, 80, 81, 127, 128, 129, 500}) {
    for (const Index skew : {0, 1, 7, 15}) TestFixture::check({.w = w}, skew, 1);
  }
}

TYPED_TEST(Tiers, StreamEveryLayout) {
  for (const auto& problem : Elementwise<TypeParam>::corner_cases()) TestFixture::check(problem, 1, 1);
}

TYPED_TEST(Tiers, AgreeWhenDivided) {
  for (const auto& problem : Elementwise<TypeParam>::corner_cases()) {
    for (const Index parts : {2, 3}) TestFixture::check(problem, 0, parts);
  }
}

}  // namespace
}  // namespace assay::elementwise
