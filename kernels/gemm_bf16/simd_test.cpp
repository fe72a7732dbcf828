// The tiers of bf16 where corner cases do not reach: several blocks each way, with odd and even k.

#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

// Blocks are 336 rows, 1024 steps and 512 columns; tails on every side of each.
const std::string problems[] = {"m=341,n=17,k=1030",  // A in place, two blocks of rows and of steps
                                "m=341,n=17,k=1031",  // A copied, since its last pair is half
                                "m=15,n=33,k=2048",   // A copied, since its rows collide in the caches
                                "m=341,n=17,k=1027,trans=tn",  // A interleaved
                                "m=3,n=531,k=1037,trans=nt",   // B turned
                                "m=345,n=517,k=13,trans=tt"};  // both

TEST(SimdGemmBf16, AgreesInSeveralBlocks) {
  const Registry registry = Registry::linked();
  const Operation& gemm = registry.at("gemm_bf16");
  int checked = 0;
  for (const std::string& problem : problems) {
    for (const Fill fill : {Fill::exact, Fill::uniform}) {
      const auto workload = gemm.open(problem, {fill, Rng(42), {.skew = 1}});
      for (std::size_t v = 0; v < gemm.variants().size(); ++v) {
        const std::string& name = gemm.variants()[v].name;
        if (!name.starts_with("simd@") || gemm.unfit(v, problem, {})) continue;
        const Agreement agreement = workload->check(v, {}, true);
        EXPECT_TRUE(agreement.agrees) << name << "/" << problem << ", seed 42: " << agreement.detail;
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, 12) << "the portable tier runs everywhere";
}

}  // namespace
}  // namespace assay
