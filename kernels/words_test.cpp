// Sources against the registry: a variant that the linker dropped, or whose name differs from its file's,
// fails here. ASSAY_SOURCES holds the paths of all that were compiled, below ASSAY_KERNELS,
// "gemm/packed.cpp,…".

#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace assay::words_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

/// A variant without its tier, simd@avx2 and simd@avx512 alike, and the file that registers it.
struct Registered {
  std::string operation, word, source;
};

std::vector<Registered> all_in(const Registry& registry) {
  std::vector<Registered> out;
  for (const Operation* operation : registry.operations()) {
    for (const VariantInfo& variant : operation->variants()) {
      if (!variant.source.starts_with("kernels/")) continue;  // naive
      out.push_back(
          {std::string(operation->name()), variant.name.substr(0, variant.name.find('@')), variant.source});
    }
  }
  return out;
}

bool registers(const std::filesystem::path& file) {
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return std::regex_search(text, std::regex("const Register(Picks)? "));
}

/// Sources with a registration, from the project's folder.
std::set<std::string> sources_of_variants() {
  std::set<std::string> out;
  std::istringstream text(ASSAY_SOURCES);
  for (std::string path; std::getline(text, path, ',');) {
    if (registers(std::filesystem::path(ASSAY_KERNELS) / path)) out.insert("kernels/" + path);
  }
  return out;
}

std::vector<std::string> without_variant(std::set<std::string> sources,
                                         const std::vector<Registered>& variants) {
  for (const Registered& one : variants) sources.erase(one.source);
  return {sources.begin(), sources.end()};
}

/// Variants whose file has another name. Those that are known to fail or cheat share files, and so do all
/// picks.
std::vector<std::string> misnamed(const std::vector<Registered>& variants) {
  std::vector<std::string> out;
  for (const Registered& one : variants) {
    const std::filesystem::path source(one.source);
    const bool shared = one.source.starts_with("kernels/known_") || one.source == "kernels/auto.cpp";
    if (!shared && source.stem() != one.word) out.push_back(one.operation + "/" + one.word);
  }
  return out;
}

TEST(VariantWords, HaveASourceEach) {
  const auto sources = sources_of_variants();
  ASSERT_THAT(sources, Not(IsEmpty()));
  EXPECT_THAT(without_variant(sources, all_in(Registry::linked())), IsEmpty())
      << "registers a variant, and the linker dropped it";
}

TEST(VariantWords, AreTheNamesOfTheirSources) {
  EXPECT_THAT(misnamed(all_in(Registry::linked())), IsEmpty())
      << "kernels/<folder>/<word>.cpp registers variants named <word>: rename one of the two";
}

TEST(VariantWords, AreMissedWhenTheLinkerDropsAFile) {
  auto wanted = sources_of_variants();
  wanted.insert("kernels/gemm/dropped.cpp");
  EXPECT_THAT(without_variant(wanted, all_in(Registry::linked())), ElementsAre("kernels/gemm/dropped.cpp"));
}

TEST(VariantWords, AreMissedWhenAVariantIsNamedUnlikeItsFile) {
  EXPECT_THAT(misnamed({{"gemm", "packed", "kernels/gemm/packed.cpp"},
                        {"gemm", "tight", "kernels/gemm/packed.cpp"},
                        {"gemm", "wrong", "kernels/known_bad/gemm.cpp"}}),
              ElementsAre("gemm/tight"));
}

}  // namespace
}  // namespace assay::words_test
