// The tiers of simd where corner cases do not reach: operands that are copied because their rows are a
// multiple of 4096 bytes apart, or because a transposed A is reused, in more than one block.

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

// Blocks of simd are 336 rows, 512 steps and 512 columns; tails on every side of each.
const std::string problems[] = {
    "m=41,n=1024,k=33,beta=2",           // B copied, two blocks of columns
    "m=31,n=137,k=1024,alpha=-2",        // A copied, two blocks of steps
    "m=341,n=129,k=9,trans=tn,beta=1",   // A copied from columns, two blocks of rows
    "m=17,n=139,k=515,trans=tn",         // the same, two blocks of steps
    "m=30,n=525,k=517,trans=nt,beta=1",  // B turned, two blocks each way
    "m=16,n=38,k=1024,trans=nt",         // dot products, two blocks of steps
    "m=28,n=9,k=531,trans=tt,alpha=3",   // the same with a remainder, A turned
    "m=1,n=7,k=600,trans=nt,beta=-1"};   // one row

TEST(SimdGemm, AgreesWhereOperandsAreCopiedInBlocks) {
  const Registry registry = Registry::linked();
  const Operation& gemm = registry.at("gemm");
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
  EXPECT_GE(checked, 10) << "the portable tier runs everywhere";
}

}  // namespace
}  // namespace assay
