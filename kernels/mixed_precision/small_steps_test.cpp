// Steps so small that a rounding of w too many exceeds the bound.

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MixedPrecisionVariants, RoundTheWeightsOnce) {
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at(MixedPrecision::name);
  for (const char* problem : {"m=3,n=5,k=1", "m=2,n=5,k=1", "m=5,n=3,k=1", "m=15,n=17,k=1", "m=1,n=1,k=1"}) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      const auto workload = operation.open(problem, {.fill = Fill::uniform, .rng = Rng(seed)});
      for (std::size_t v = 0; v < operation.variants().size(); ++v) {
        if (operation.unfit(v, problem, {})) continue;
        const Agreement found = workload->check(v, {}, Workload::no_rehearsal);
        // Nothing else is asked: builds without optimisation leave vector registers in use, and check()
        // tells.
        EXPECT_THAT(found.detail, Not(HasSubstr("times the bound")))
            << operation.variants()[v].name << ' ' << problem << " seed " << seed;
      }
    }
  }
}

// Fifteen products that are added to w one by one round it fifteen times, and the bound allows two.
TEST(MixedPrecisionVariants, AreRejectedWhereProductsAreAddedToTheWeights) {
  int rejected = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Registry registry;
    registry.add<MixedPrecision>({.name = "naive",
                                  .run = [](const MixedPrecision::Problem& p, const MixedPrecision::Input& in,
                                            MixedPrecision::Output& out) {
                                    for (Index i = 0; i < p.m; ++i) {
                                      for (Index j = 0; j < p.n; ++j) out.y[i * p.n + j] = in.x[i] * in.w[j];
                                    }
                                    std::ranges::copy(in.w, out.w_next.begin());
                                    for (Index i = 0; i < p.m; ++i) {
                                      const float scaled =
                                          static_cast<float>(-MixedPrecision::rate) * in.x[i];
                                      for (Index j = 0; j < p.n; ++j)
                                        out.w_next[j] += scaled * in.dy[i * p.n + j];
                                    }
                                  }});
    const auto workload =
        registry.at(MixedPrecision::name).open("m=15,n=17,k=1", {.fill = Fill::uniform, .rng = Rng(seed)});
    if (!workload->check(0, {}, Workload::no_rehearsal).agrees) ++rejected;
  }
  EXPECT_GT(rejected, 100);
}

}  // namespace
}  // namespace assay
