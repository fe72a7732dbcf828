#include "core/plan/trial_key.hpp"

#include "core/plan/filter.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

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
