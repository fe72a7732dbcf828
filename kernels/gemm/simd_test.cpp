// The tiers of simd where corner cases do not reach: operands that are copied because their rows are a
// multiple of 4096 bytes apart, or because a transposed A is reused, in more than one block.

#include "simd_test.hpp"
#include "gemm/blocked.hpp"

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace assay {
namespace {

// Blocks of simd are 512 steps, with a second-level cache of 1 MiB 336 rows, and of a transposed B 512
// columns; tails on every side of each.
const std::string problems[] = {
    "m=41,n=1024,k=33,beta=2",           // B copied by the first tile of each panel
    "m=510,n=81,k=520,beta=1",           // the same, two blocks of rows and of steps, a last partial panel
    "m=165,n=205,k=63,beta=-1",          // C walked along its rows, each first tile of a panel copying
    "m=45,n=8209,k=64",                  // the same, more columns than are walked at a time
    "m=343,n=69,k=16,trans=tt,beta=1",   // the same, B turned, two blocks of rows
    "m=31,n=171,k=77,trans=tn",          // A copied in slices of whole vectors, the last of which ends A
    "m=45,n=7,k=1024,beta=1",            // tiles of one vector, over rows that collide
    "m=53,n=5,k=37,alpha=2",             // the same, over rows that do not
    "m=31,n=137,k=1024,alpha=-2",        // A copied, two blocks of steps
    "m=341,n=129,k=9,trans=tn,beta=1",   // A copied from columns, two blocks of rows
    "m=17,n=139,k=515,trans=tn",         // the same, two blocks of steps
    "m=30,n=525,k=517,trans=nt,beta=1",  // B turned panel by panel, two blocks of steps
    "m=350,n=525,k=20,trans=nt",         // B turned for two blocks of rows, two blocks of columns
    "m=96,n=79,k=1024,trans=nt,beta=1",  // A copied once for all panels of a turned B
    "m=16,n=38,k=1024,trans=nt",         // dot products with AVX-512, two blocks of steps
    "m=5,n=39,k=1030,trans=nt,beta=1",   // the same with fewer registers
    "m=28,n=9,k=531,trans=tt,alpha=3",   // the same with a remainder, A turned
    "m=3,n=9,k=531,trans=tt,alpha=3",    // and with fewer registers
    "m=30,n=87,k=517,trans=nt,alpha=2",  // the transpose, no side whole lines, two blocks of steps
    "m=96,n=179,k=1024,trans=nt",        // the same of an even number of rows, over rows that collide
    "m=129,n=70,k=200,trans=tt",         // the same of a transposed A, a row beside whole vectors
    "m=1024,n=33,k=1030,trans=tt",       // the same, the turned result kept apart from its own lines
    "m=30,n=87,k=517,trans=nt,beta=2",   // a product that is added to C is not transposed
    "m=301,n=21,k=513,trans=tn",         // the transpose where A alone is transposed, two blocks of steps
    "m=1024,n=33,k=130,trans=tn",        // the same over rows that collide, a row beside whole vectors
    "m=20,n=1024,k=521",                 // with small caches: panels of B copied before, two blocks each way
    "m=4,n=37,k=133",                    // few rows of few columns
    "m=1,n=7,k=600,trans=nt,beta=-1",    // one row
    "m=1,n=139,k=77,alpha=-3,beta=2",    // the same, rows of B added
    "m=141,n=1,k=79,trans=tn,beta=-2",   // one column, rows of A added
    "m=141,n=1,k=600,alpha=3,beta=1"};   // one column, rows of A dotted

TEST(SimdGemm, AgreesWhereOperandsAreCopiedInBlocks) { expect_simd_agreement("gemm", problems); }

TEST(SimdGemm, TurnsAProductUnlessItsRowsCollideOrLeaveLanesEmpty) {
  const auto turns = [](Index m, Index n, Index k) {
    return blocked::is_better_turned({.m = m, .n = n, .k = k, .lda = k, .ldb = k, .b_transposed = true}, 16);
  };
  EXPECT_TRUE(turns(64, 2304, 768));
  EXPECT_FALSE(turns(64, 2304, 1024));
  EXPECT_FALSE(turns(66, 2304, 768));
}

/// Counts the expectations that fail for a gemm whose one variant is `variant`.
int failures_with(Variant<Gemm> variant) {
  Registry registry;
  registry.add<Gemm>(std::move(variant));
  ::testing::TestPartResultArray failures;
  using ::testing::ScopedFakeTestPartResultReporter;
  const ScopedFakeTestPartResultReporter reporter(
      ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
  expect_simd_agreement(registry.at("gemm"), "m=1,n=1,k=1");
  return failures.size();
}

// gemm has two fills.
TEST(SimdAgreement, FailsForAWrongTierUnderEachFill) {
  EXPECT_EQ(failures_with(
                {.name = "simd@wrong",
                 .run = [](const auto&, const auto& in, auto& out) { out.c[0] = in.a[0] * in.b[0] + 1; }}),
            2);
}

TEST(SimdAgreement, FailsWhereNoTierWasChecked) {
  EXPECT_EQ(
      failures_with({.name = "other",
                     .run = [](const auto&, const auto& in, auto& out) { out.c[0] = in.a[0] * in.b[0]; }}),
      2);
}

}  // namespace
}  // namespace assay
