// The tiers of bf16 where corner cases do not reach: several blocks each way, with odd and even k.

#include "simd_test.hpp"

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

TEST(SimdGemmBf16, AgreesInSeveralBlocks) { expect_simd_agreement("gemm_bf16", problems); }

}  // namespace
}  // namespace assay
