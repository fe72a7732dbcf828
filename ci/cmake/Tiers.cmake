# ASSAY_TIER_DEFINITIONS: what kernels are compiled with to have the SIMD tiers that ASSAY_TIERS asks for.
# ASSAY_BUILT_TIERS: the same in a word that results record.
set(ASSAY_TIER_DEFINITIONS)
set(ASSAY_BUILT_TIERS ${ASSAY_TIERS})
if(ASSAY_TIERS STREQUAL "all")
  set(ASSAY_TIER_DEFINITIONS ASSAY_ALL_TIERS)
elseif(ASSAY_TIERS STREQUAL "portable")
  set(ASSAY_TIER_DEFINITIONS ASSAY_ONLY_TIER=HWY_BASELINE_SCALAR)
elseif(ASSAY_TIERS STREQUAL "native")
  # Highway is asked, since kernels ask it too.
  if(NOT DEFINED ASSAY_NATIVE_TIER)
    try_run(ASSAY_NATIVE_TIER compiled SOURCE_FROM_CONTENT native_tier.cpp [[
      #include <hwy/targets.h>
      int main() {
        const auto targets = hwy::SupportedTargets();
        if (HWY_ARCH_ARM_A64) return 3;
        return (targets & HWY_AVX3) != 0 ? 2 : (targets & HWY_AVX2) != 0 ? 1 : 0;
      }]] LINK_LIBRARIES hwy::hwy)
    if(NOT compiled)
      message(FATAL_ERROR "ASSAY_TIERS=native: Highway does not say which tiers run here: choose usual")
    endif()
  endif()
  set(words portable avx2 avx512 neon)
  set(targets HWY_BASELINE_SCALAR HWY_AVX2 HWY_AVX3 HWY_NEON)
  list(GET words ${ASSAY_NATIVE_TIER} ASSAY_BUILT_TIERS)
  list(GET targets ${ASSAY_NATIVE_TIER} target)
  set(ASSAY_TIER_DEFINITIONS ASSAY_ONLY_TIER=${target})
  message(STATUS "Tier ${ASSAY_BUILT_TIERS} is built, which is the best of this machine")
elseif(NOT ASSAY_TIERS STREQUAL "usual")
  message(FATAL_ERROR "ASSAY_TIERS is ${ASSAY_TIERS}, must be usual, all, native or portable")
endif()
