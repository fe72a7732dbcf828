// The published examples that refute the validators of pools known to be bad.

#include "assay/ops/memory_pool.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace assay::memory_pool {
namespace {

using ::testing::HasSubstr;

/// Returns the judge's first complaint about a variant, for a list whose own plan it takes.
std::string first_complaint(std::string_view name) {
  const Registry registry = Registry::linked();
  const Operation& validate = registry.at("memory_pool_validate");
  const auto variant = std::ranges::find(validate.variants(), name, &VariantInfo::name);
  const auto at = static_cast<std::size_t>(variant - validate.variants().begin());
  return validate.open("blocks=1", {.rng = Rng(1)})->check(at, {}).detail;
}

TEST(KnownBadValidators, NeighboursOnlyTakesThePublishedThreeBlocks) {
  EXPECT_THAT(first_complaint("neighbours_only"),
              HasSubstr("valid[1] is 1, expected 0: published: [0, 100), [10, 20), [30, 40) in steps"));
}

TEST(KnownBadValidators, UnsortedWalkTakesThePublishedTwins) {
  EXPECT_THAT(first_complaint("unsorted_walk"),
              HasSubstr("valid[2] is 1, expected 0: published: twins with another block between"));
}

}  // namespace
}  // namespace assay::memory_pool
