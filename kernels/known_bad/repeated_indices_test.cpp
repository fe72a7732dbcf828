#include "assay/ops/data_loader.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view problem = "records=6,bytes=8,batch=3";

/// The setting whose first window of `problem` is `wanted`.
Setting setting_for(const std::vector<Index>& wanted) {
  for (std::uint64_t seed = 1;; ++seed) {
    Setting tried{.fill = Fill::uniform, .rng = Rng(seed)};
    const auto in = BatchRetrieval::make_input({.records = 6, .bytes = 8, .batch = 3}, tried);
    if (std::ranges::equal(in.window(), wanted)) return {.fill = Fill::uniform, .rng = Rng(seed)};
  }
}

Agreement check(std::string_view variant, const std::vector<Index>& indices) {
  const Registry registry = Registry::linked();
  const Operation& operation = registry.at("batch_retrieval");
  const auto named = std::ranges::find(operation.variants(), variant, &VariantInfo::name);
  return operation.open(problem, setting_for(indices))
      ->check(static_cast<std::size_t>(named - operation.variants().begin()), {}, Workload::no_rehearsal);
}

// ADR-003's order restoration returns [5, 5, 3]: the second place holds record 5 where 3 was asked for.
TEST(RepeatedIndices, ComeBackAs553For535) {
  const Agreement agreement = check("repeated_indices", {5, 3, 5});
  EXPECT_FALSE(agreement.agrees);
  EXPECT_THAT(agreement.detail, HasSubstr("batch[1, "));
  EXPECT_THAT(agreement.detail, HasSubstr("of record 3; it is record 5"));
}

TEST(RepeatedIndices, AreWhatItTakesForTheRestorationToFail) {
  EXPECT_TRUE(check("repeated_indices", {5, 3, 4}).agrees);
  EXPECT_TRUE(check("repeated_indices", {3, 5, 5}).agrees)
      << "a request in ascending order is right by chance";
}

TEST(RepeatedIndices, AreNoTroubleForASortThatKeepsThePlaces) {
  EXPECT_TRUE(check("sorted", {5, 3, 5}).agrees);
  EXPECT_TRUE(check("naive", {5, 3, 5}).agrees);
}

}  // namespace
}  // namespace assay
