// Tests the choice of core types to try.
#include "bench/tune/variable.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::vector<std::string> avx2{"sse2", "ssse3", "sse4", "avx", "f16c", "fma", "avx2"};

/// An OpenBLAS that detects Nehalem, and knows all core types but Zen, for which it takes Haswell.
std::string reported(const Variables& environment) {
  const auto& [name, value] = environment.front();
  EXPECT_EQ(name, "OPENBLAS_CORETYPE");
  if (!value) return "Nehalem";
  return *value == "Zen" ? "Haswell" : *value;
}

std::vector<std::string> names(const std::vector<Candidate>& candidates) {
  std::vector<std::string> out;
  for (const Candidate& candidate : candidates) out.push_back(candidate.name);
  return out;
}

TEST(CoreTypes, AreTheDefaultAndAllThatCanBeExecuted) {
  const auto candidates = core_candidates({}, avx2, reported);
  EXPECT_THAT(names(candidates),
              ElementsAre("default", "Prescott", "Core2", "Nehalem", "Sandybridge", "Haswell", "Zen"));
  EXPECT_EQ(candidates[0].in_use, "Nehalem");
  EXPECT_THAT(names(core_candidates({"haswell", "Core2", "Haswell"}, avx2, reported)),
              ElementsAre("default", "Core2", "Haswell"));
}

TEST(CoreTypes, ThatOpenBlasDoesNotTakeAreSaidAndLeftOut) {
  const auto candidates = core_candidates({"Nehalem", "Haswell", "Zen"}, avx2, reported);
  EXPECT_EQ(candidates[1].left_out, "the default uses it already");
  EXPECT_TRUE(candidates[2].measured());
  EXPECT_EQ(candidates[3].left_out, "NOT TAKEN: OpenBLAS uses Haswell instead");
}

TEST(CoreTypes, ThatWouldCrashAreRefusedAndNeverSet) {
  const auto never = [](const Variables& environment) -> std::string {
    EXPECT_FALSE(environment.front().second.has_value()) << "the default alone may be asked for";
    return "Nehalem";
  };
  EXPECT_THAT([&] { core_candidates({"SkylakeX"}, avx2, never); },
              ThrowsMessage<Error>(AllOf(HasSubstr("--core-types SkylakeX"), HasSubstr("lacks avx512f"))));
  EXPECT_THAT([&] { core_candidates({"Hasswell"}, avx2, never); },
              ThrowsMessage<Error>(HasSubstr("near it: Haswell")));
  EXPECT_THAT(names(core_candidates({}, {"sse2"}, never)), ElementsAre("default"));
}

}  // namespace
}  // namespace assay
