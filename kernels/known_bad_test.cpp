// Every variant that is kept because it is wrong must be rejected, or the checks have lost a tooth.

#include "assay/check.hpp"
#include "assay/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay {
namespace {

constexpr std::uint64_t corner_seed = 42;

/// `operation/variant` of all that are known to be bad.
std::vector<std::string> known_bad(const Registry& registry) {
  std::vector<std::string> names;
  for (const Operation* operation : registry.operations()) {
    for (const VariantInfo& variant : operation->variants()) {
      if (!variant.known_bad.empty()) names.push_back(std::string(operation->name()) + "/" + variant.name);
    }
  }
  return names;
}

std::ptrdiff_t rejections(const std::vector<CornerCheck>& checks) {
  return std::ranges::count_if(checks,
                               [](const CornerCheck& c) { return c.skipped.empty() && !c.agreement.agrees; });
}

class KnownBad : public ::testing::TestWithParam<std::string> {};

TEST_P(KnownBad, IsRejectedWithTheElementAndTheReason) {
  const Registry registry = Registry::linked();
  const auto checks = check_corners(registry, "^" + GetParam() + "$", 2, corner_seed, {}, Kin::known_bad);
  EXPECT_GT(rejections(checks), 0) << GetParam() << " agreed in all " << checks.size() << " checks";
  for (const CornerCheck& c : checks) {
    if (!c.skipped.empty() || c.agreement.agrees) continue;
    EXPECT_FALSE(c.agreement.detail.empty()) << c.problem;
  }
}

// Without one the suite below would be empty, and that is no success.
TEST(KnownBadVariants, Exist) { EXPECT_FALSE(known_bad(Registry::linked()).empty()); }

/// Test names may hold letters, digits and '_' only.
std::string with_underscores(const ::testing::TestParamInfo<std::string>& named) {
  std::string name = named.param;
  std::ranges::replace(name, '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, KnownBad, ::testing::ValuesIn(known_bad(Registry::linked())),
                         with_underscores);

}  // namespace
}  // namespace assay
