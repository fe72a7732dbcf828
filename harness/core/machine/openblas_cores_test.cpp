#include "core/machine/processor.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;

const std::vector<std::string> avx2{"sse2", "ssse3", "sse4", "avx", "f16c", "fma", "avx2"};

std::vector<std::string> executable(const std::vector<std::string>& features) {
  std::vector<std::string> out;
  for (const OpenBlasCore& core : openblas_cores()) {
    if (lacking(core, features).empty()) out.push_back(core.name);
  }
  return out;
}

std::vector<std::string> with(std::vector<std::string> features, const std::vector<std::string>& more) {
  features.insert(features.end(), more.begin(), more.end());
  return features;
}

TEST(OpenBlasCores, AreExecutableWhereAllTheirInstructionsAre) {
  EXPECT_THAT(executable({}), ElementsAre());
  EXPECT_THAT(executable({"sse2", "ssse3", "sse4"}), ElementsAre("Prescott", "Core2", "Nehalem"));
  EXPECT_THAT(executable(avx2), ElementsAre("Prescott", "Core2", "Nehalem", "Sandybridge", "Haswell", "Zen"));
}

TEST(OpenBlasCores, OfAvx512NeedEachOfItsParts) {
  const auto foundation = with(avx2, {"avx512f", "avx512cd"});  // Knights Landing
  EXPECT_EQ(executable(foundation), executable(avx2));
  const auto skylake = with(avx2, {"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"});
  EXPECT_EQ(executable(skylake).back(), "SkylakeX");
  EXPECT_EQ(executable(with(skylake, {"avx512_vnni"})).back(), "SkylakeX");
  EXPECT_EQ(executable(with(skylake, {"avx512_vnni", "avx512_bf16"})).back(), "Cooperlake");
}

TEST(OpenBlasCores, SayWhatAProcessorLacks) {
  const OpenBlasCore& haswell = openblas_cores()[4];
  EXPECT_EQ(haswell.name, "Haswell");
  EXPECT_THAT(lacking(haswell, {"sse2", "ssse3", "sse4", "avx"}), ElementsAre("fma", "avx2"));
}

TEST(OpenBlasCores, AreTheSameInWhateverCase) {
  EXPECT_TRUE(same_core("SkylakeX", "SKYLAKEX"));
  EXPECT_FALSE(same_core("Skylake", "SkylakeX"));
}

}  // namespace
}  // namespace assay
