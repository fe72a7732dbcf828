// The words of assay_variants() in CMake against the registry: a variant that the linker dropped, or whose
// name differs from its file's, fails here. ASSAY_VARIANT_WORDS holds them as "gemm/packed,gemm/simd,…".

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Words = std::set<std::string>;

Words words_in_cmake() {
  Words words;
  std::istringstream text(ASSAY_VARIANT_WORDS);
  for (std::string word; std::getline(text, word, ',');) words.insert(word);
  return words;
}

/// `operation/name` of every variant but naive, without tiers: simd@avx2 and simd@avx512 come from one file.
Words words_in(const Registry& registry) {
  Words words;
  for (const Operation* operation : registry.operations()) {
    for (const VariantInfo& variant : operation->variants()) {
      if (variant.name == "naive") continue;
      words.insert(std::string(operation->name()) + "/" + variant.name.substr(0, variant.name.find('@')));
    }
  }
  return words;
}

Words missing_from(const Words& there, const Words& wanted) {
  Words missing;
  for (const std::string& word : wanted) {
    if (!there.contains(word)) missing.insert(word);
  }
  return missing;
}

TEST(VariantWords, HaveAVariantEach) {
  EXPECT_THAT(missing_from(words_in(Registry::linked()), words_in_cmake()), IsEmpty())
      << "kernels/<operation>/<word>.cpp does not register a variant of that name";
}

TEST(VariantWords, NameEveryRegisteredVariant) {
  EXPECT_THAT(missing_from(words_in_cmake(), words_in(Registry::linked())), IsEmpty())
      << "a variant is registered by a file of another name: rename one of the two";
}

TEST(VariantWords, AreMissedWhenTheLinkerDropsAFile) {
  Words wanted = words_in_cmake();
  wanted.insert("gemm/dropped");
  EXPECT_THAT(missing_from(words_in(Registry::linked()), wanted), ElementsAre("gemm/dropped"));
}

TEST(VariantWords, AreMissedWhenAVariantIsNamedUnlikeItsFile) {
  Words known = words_in_cmake();
  known.erase("gemm/packed");
  EXPECT_THAT(missing_from(known, words_in(Registry::linked())), ElementsAre("gemm/packed"));
}

}  // namespace
}  // namespace assay
