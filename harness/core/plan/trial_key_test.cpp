#include "core/plan/trial_key.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(TrialKeys, AreTakenApartAsTheyWereMade) {
  const TrialKey made{.operation = "gemm", .variant = "simd@avx2", .problem = "m=1,n=2", .threads = 12};
  EXPECT_EQ(made.text(), "gemm/simd@avx2/m=1,n=2#12");
  const auto found = trial_key(made.text());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->operation, "gemm");
  EXPECT_EQ(found->variant, "simd@avx2");
  EXPECT_EQ(found->problem, "m=1,n=2");
  EXPECT_EQ(found->threads, 12);
}

TEST(TrialKeys, MayNameAFileInTheirProblem) {
  const auto found = trial_key("memory_pool_plan/naive/trace=nets/a#b.csv#1");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->variant, "naive");
  EXPECT_EQ(found->problem, "trace=nets/a#b.csv");
}

TEST(TrialKeys, AreNoNamesOfOtherThings) {
  for (const char* other :
       {"", "gemm", "gemm/naive", "gemm/naive/m=1", "BM_copy/64", "BM_copy/64/threads:2", "gemm#1",
        "gemm/naive#1", "gemm/naive/m=1#", "gemm/naive/m=1#two", "gemm/naive/m=1#1x", "gemm/naive/m=1#0",
        "gemm/naive/m=1#-1", "gemm/naive/m=1#99999999999"}) {
    EXPECT_FALSE(trial_key(other)) << other;
  }
}

TEST(FormerNames, OfTiersAreReplacedInVariantsKeysAndFilters) {
  EXPECT_EQ(with_present_names("simd@avx3"), "simd@avx512");
  EXPECT_EQ(with_present_names("gemm/simd@avx3/m=4,n=4,k=4#1"), "gemm/simd@avx512/m=4,n=4,k=4#1");
  EXPECT_EQ(with_present_names("-(avx2|avx3)$"), "-(avx2|avx512)$");
}

TEST(FormerNames, AreReplacedAsWholeWordsOnly) {
  for (const char* text : {"simd@avx2", "simd@portable", "simd@avx3_dl", "my_avx3", "simd@avx512", ""}) {
    EXPECT_EQ(with_present_names(text), text);
  }
}

TEST(Filter, UnderstandsFormerNamesOfTiers) {
  const Registry none;
  EXPECT_TRUE(Filter("simd@avx3/", none).selects("gemm/simd@avx512/m=4,n=4,k=4#1"));
  EXPECT_FALSE(Filter("-avx3", none).selects("gemm/simd@avx512/m=4,n=4,k=4#1"));
}

}  // namespace

}  // namespace assay
