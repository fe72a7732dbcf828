#include "core/machine/processor.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

const std::vector<std::string> avx512{"sse2",    "sse4",     "avx",      "fma",      "avx2",
                                      "avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"};
const std::vector<std::string> haswell_features{"sse2", "sse4", "avx", "fma", "avx2"};
const std::vector<std::string> sse4{"sse2", "sse4"};

TEST(OpenBlasCore, ShouldBeSkylakeXOnAvx512) {
  for (const char* core : {"Haswell", "Zen", "Prescott", "Sandybridge", "unknown"}) {
    EXPECT_EQ(better_openblas_core(avx512, core), "SkylakeX") << core;
  }
}

TEST(OpenBlasCore, IsFineWhereItUsesAvx512) {
  for (const char* core : {"SkylakeX", "SKYLAKEX", "Cooperlake", "SapphireRapids"}) {
    EXPECT_EQ(better_openblas_core(avx512, core), "") << core;
  }
}

TEST(OpenBlasCore, ShouldBeHaswellOnAvx2WhenItIsOlder) {
  for (const char* core : {"Prescott", "Nehalem", "Sandybridge", "Bulldozer", "Excavator"}) {
    EXPECT_EQ(better_openblas_core(haswell_features, core), "Haswell") << core;
  }
  for (const char* core : {"Haswell", "Zen"})
    EXPECT_EQ(better_openblas_core(haswell_features, core), "") << core;
}

TEST(OpenBlasCore, IsLeftAloneOnOlderOrOtherProcessorsAndWhenUnknown) {
  EXPECT_EQ(better_openblas_core(sse4, "Nehalem"), "");
  EXPECT_EQ(better_openblas_core({"asimd", "sve"}, "NEOVERSEN1"), "");
  EXPECT_EQ(better_openblas_core(avx512, ""), "");
}

}  // namespace
}  // namespace assay
