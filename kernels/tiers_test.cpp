// for_each_tier(): every tier gets the function that was compiled for it.

#include "tiers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#define HWY_TARGET_INCLUDE "tiers_test.cpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::HWY_NAMESPACE {

void report_target(std::int64_t* target) { *target = HWY_TARGET; }
void report_negated(std::int64_t* target) { *target = -HWY_TARGET; }

}  // namespace assay::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {

HWY_EXPORT(report_target);
HWY_EXPORT(report_negated);

namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

TEST(Tiers, EachGetTheFunctionCompiledForThem) {
  for_each_tier(HWY_DISPATCH_TABLE(report_target),
                [](const std::string& tier, auto* function, const auto& unfit) {
                  if (unfit) return;
                  std::int64_t target = 0;
                  function(&target);
                  EXPECT_EQ(tier_name(target), tier);
                });
}

TEST(Tiers, IncludeOneThatRunsEverywhere) {
  std::vector<std::string> fit;
  for_each_tier(HWY_DISPATCH_TABLE(report_target), [&](const std::string& tier, auto*, const auto& unfit) {
    if (!unfit) fit.push_back(tier);
  });
#ifdef ASSAY_ONLY_TIER
  EXPECT_THAT(fit, ElementsAre(tier_name(HWY_TARGETS))) << "this build is for another machine";
#else
  EXPECT_THAT(fit, Contains("portable"));
#endif
}

TEST(Tiers, AreThoseThatPeopleHaveUnlessAskedForAll) {
  std::vector<std::string> names;
  for_each_tier(HWY_DISPATCH_TABLE(report_target),
                [&](const std::string& tier, auto*, const auto&) { names.push_back(tier); });
#if HWY_ARCH_ARM_A64
  EXPECT_THAT(names, ElementsAre("neon", "portable"));
#elif !HWY_ARCH_X86
  GTEST_SKIP() << "other names on other processors: " << ::testing::PrintToString(names);
#elif defined(ASSAY_ALL_TIERS)
  EXPECT_THAT(names, IsSupersetOf({"avx512", "avx2", "sse4", "ssse3", "portable"}));
#else
  EXPECT_THAT(names, ElementsAre("avx512", "avx2", "portable"));
#endif
}

TEST(Tiers, SayWhatAProcessorLacks) {
  constexpr std::int64_t lesser = HWY_SCALAR | HWY_EMU128;
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SCALAR, HWY_EMU128}) {
    const std::string tier = tier_name(target);
    const auto unfit = tier_unfit(target, lesser);
    ASSERT_EQ(unfit.has_value(), tier != "portable") << tier;
    EXPECT_EQ(unfit.value_or("needs a processor with " + tier).find("needs a processor with " + tier), 0U);
    EXPECT_FALSE(tier_unfit(target, lesser | target)) << tier;
  }
}

TEST(Tiers, OfTheCompilersBaselineRunOnEveryProcessor) {
  constexpr std::int64_t none = 0;
  EXPECT_FALSE(tier_unfit(HWY_BASELINE_TARGETS & -HWY_BASELINE_TARGETS, none));
#if HWY_ARCH_ARM_A64
  EXPECT_FALSE(tier_unfit(HWY_NEON, none));
#endif
}

TEST(Tiers, SayThatThisProcessorRunsWhatItSupports) {
  for_each_tier(HWY_DISPATCH_TABLE(report_target),
                [](const std::string& tier, auto* function, const auto& unfit) {
                  EXPECT_TRUE(tier != "portable" || function == nullptr || !unfit) << tier;
                });
  EXPECT_EQ(supported_targets(), hwy::SupportedTargets());
}

TEST(Tiers, ThatWereNotBuiltSaySo) {
  for_each_tier(
      HWY_DISPATCH_TABLE(report_target), [](const std::string& tier, auto* function, const auto& unfit) {
        if (function != nullptr) return;
        ASSERT_TRUE(unfit) << tier;
        EXPECT_TRUE(unfit->starts_with("not built: ") || unfit->starts_with("needs a processor")) << *unfit;
      });
}

TEST(Tiers, LeaveTheChoiceOfDynamicDispatchAlone) {
  std::int64_t before = 0, after = 0;
  HWY_DYNAMIC_DISPATCH(report_target)(&before);
  for_each_tier(HWY_DISPATCH_TABLE(report_target), [](const std::string&, auto*, const auto&) {});
  HWY_DYNAMIC_DISPATCH(report_target)(&after);
  EXPECT_EQ(after, before);
}

TEST(Tiers, AreListedWithBothOfTheirFunctions) {
  for (const auto& tier : tiers_in(HWY_DISPATCH_TABLE(report_target), HWY_DISPATCH_TABLE(report_negated))) {
    if (tier.unfit) continue;
    std::int64_t target = 0, negated = 0;
    tier.function(&target);
    tier.streaming(&negated);
    EXPECT_EQ(tier_name(target), tier.name);
    EXPECT_EQ(negated, -target);
  }
}

TEST(Tiers, AreBestWhereTheyAreTheFirstThatRunsHere) {
  const std::vector<Tier<void()>> tiers{
      {{.name = "a", .unfit = "too new"}}, {{.name = "b"}}, {{.name = "c"}}};
  EXPECT_EQ(best_of(tiers).name, "b");
}

}  // namespace
}  // namespace assay
#endif
