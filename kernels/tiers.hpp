// One variant per SIMD target, as `simd@avx512`, `simd@avx2`, …, where Highway calls the best one of a
// machine. for_each_tier() walks the entries of a Highway dispatch table, tiers_in() lists them for variants
// that run the same machine code, and best_of() returns the tier that such variants run:
//   #define HWY_TARGET_INCLUDE "gemm/simd.cpp"   // this file, relative to kernels/
//   #include "vectors_inl.hpp"
//   HWY_BEFORE_NAMESPACE();
//   namespace assay::HWY_NAMESPACE { void kernel(…) {…} }
//   HWY_AFTER_NAMESPACE();
//   #if HWY_ONCE
//   namespace assay { HWY_EXPORT(kernel); … add_tiers<Gemm>(r, tiers_in(HWY_DISPATCH_TABLE(kernel)), …
//
// Everything above HWY_ONCE is compiled once per target with that target's instructions. It must not use
// templates or inline functions of the standard library: the linker may keep the AVX-512 copy of such a
// function for all callers.
#pragma once

#ifdef HWY_TARGETS
#error "include tiers.hpp before every header of Highway"
#endif

#include "hwy/detect_compiler_arch.h"

// AVX-512, AVX2 and the fallback are the tiers of processors in use; ASSAY_ALL_TIERS adds those of older
// processors. Highway's bits are ordered best first. Targets below AVX3 add integer and bf16 instructions,
// which float kernels do not use, so they would be measured twice. Targets whose vector length is known only
// at run time (SVE, RVV) are left out, since kernels size their register tiles at compile time. All AArch64
// processors have NEON. Where Highway may choose it at run time it asks for AES besides, by an attribute that
// GCC does not give to implicit constructors of structures with vectors; the last macro forbids that.
#if HWY_ARCH_X86 && defined(ASSAY_ALL_TIERS)
#define HWY_DISABLED_TARGETS (HWY_AVX3 - 1)
#elif HWY_ARCH_X86
#define HWY_DISABLED_TARGETS (~(HWY_AVX3 | HWY_AVX2 | HWY_EMU128 | HWY_SCALAR))
#else
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define TOOLCHAIN_MISS_SYS_AUXV_H
#endif
// Highway drops the fallback if the compiler's baseline has vectors. Here it is kept, as the tier that runs
// everywhere.
#define HWY_COMPILE_ALL_ATTAINABLE

#include "hwy/detect_targets.h"

// A build for one machine has one target, ASSAY_ONLY_TIER. Highway insists on one of the compiler's baseline
// as well, since it dispatches to that one elsewhere; variants here are dispatched by for_each_tier().
#ifdef ASSAY_ONLY_TIER
inline constexpr auto assay_usual_targets = HWY_TARGETS;
#undef HWY_TARGETS
#undef HWY_STATIC_TARGET
#undef HWY_TARGET
#define HWY_TARGETS ASSAY_ONLY_TIER
#define HWY_STATIC_TARGET ASSAY_ONLY_TIER
#define HWY_TARGET ASSAY_ONLY_TIER
#endif

#include "hwy/targets.h"

#include "assay/registry.hpp"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// Returns the name of a tier, as variants and stored files have it: Highway's name in lower case, except
/// that AVX3 is `avx512`, as processors call it, and the fallback (`scalar` or `emu128` depending on compiler
/// and version) is `portable`.
inline std::string tier_name(std::int64_t target) {
  if (target == HWY_SCALAR || target == HWY_EMU128) return "portable";
  if (target == HWY_AVX3) return "avx512";
  std::string name = hwy::TargetName(target);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// The targets that this processor can run, queried once: kernels look for their best tier whenever they are
/// prepared, and a query takes some microseconds if a hypervisor answers it.
inline std::int64_t supported_targets() {
  static const std::int64_t targets = hwy::SupportedTargets();
  return targets;
}

/// Why a processor with the targets `supported` cannot run `target`, or nothing.
inline std::optional<std::string> tier_unfit(std::int64_t target,
                                             std::int64_t supported = supported_targets()) {
  const bool fallback = target == HWY_SCALAR || target == HWY_EMU128;
  if (fallback || ((supported | HWY_BASELINE_TARGETS) & target) != 0) return std::nullopt;
  return "needs a processor with " + tier_name(target) + (target == HWY_AVX3 ? " (F, BW, DQ and VL)" : "");
}

/// Targets of a usual build, of which this one may have a single one.
#ifdef ASSAY_ONLY_TIER
inline constexpr std::int64_t usual_targets = assay_usual_targets;
#else
inline constexpr std::int64_t usual_targets = HWY_TARGETS;
#endif

/// Calls `visit(tier, function, unfit)` for every target of a usual build, best first: its name, its entry in
/// `table`, which is HWY_DISPATCH_TABLE(function), and the reason why it cannot run here, if any. Tiers that
/// cannot run are visited too, so that a baseline of another machine shows them as skipped, not as unknown;
/// the function of those that were not built is null.
template <class Function, std::size_t entries, class Visit>
void for_each_tier(Function* const (&table)[entries], Visit&& visit) {
  auto left = static_cast<std::uint64_t>(usual_targets);
  while (left != 0) {
    const auto target = static_cast<std::int64_t>(left & (~left + 1));
    left &= left - 1;
    if ((target & HWY_TARGETS) == 0) {
      Function* const none = nullptr;
      const std::string not_built = "not built: configure with -DASSAY_TIERS=usual";
      std::invoke(visit, tier_name(target), none, std::optional(tier_unfit(target).value_or(not_built)));
      continue;
    }
    // A local ChosenTarget: narrowing the process-wide one would change dynamic dispatch.
    hwy::ChosenTarget one;
    one.Update(target);
    Function* const function = table[entries == 1 ? 0 : one.GetIndex()];
    std::invoke(visit, tier_name(target), function, tier_unfit(target));
  }
}

/// The base of an operation's own structure of a tier, which adds its functions.
struct NamedTier {
  std::string name;
  std::optional<std::string> unfit = {};  ///< why it cannot run here
};

/// The tier of an operation whose variants share one function. tiers() of an operation, defined in its
/// simd.cpp, has every target that was built, best first.
template <class Function>
struct Tier : NamedTier {
  Function* function = nullptr;
  Function* streaming = nullptr;  ///< the same with stores past the caches, or null
};

/// Sets `member` of each of `tiers`, which has an element per tier of for_each_tier() or none yet, to its
/// entry in HWY_DISPATCH_TABLE(function), and its name and why it cannot run here; so with each further pair
/// of them.
template <class AnyTier, class Function, std::size_t entries, class... More>
void set_in(std::vector<AnyTier>& tiers, Function* AnyTier::*member, Function* const (&table)[entries],
            const More&... more) {
  std::size_t next = 0;
  for_each_tier(table, [&](const std::string& name, Function* function, const auto& unfit) {
    AnyTier& tier = next < tiers.size() ? tiers[next] : tiers.emplace_back();
    tier.name = name;
    tier.unfit = unfit;
    tier.*member = function;
    ++next;
  });
  if constexpr (sizeof...(more) > 0) set_in(tiers, more...);
}
/// Every tier, best first, with these members.
template <class AnyTier, class Function, std::size_t entries, class... More>
std::vector<AnyTier> tiers_in(Function* AnyTier::*member, Function* const (&table)[entries],
                              const More&... more) {
  std::vector<AnyTier> out;
  set_in(out, member, table, more...);
  return out;
}
template <class Function, std::size_t entries>
std::vector<Tier<Function>> tiers_in(Function* const (&table)[entries]) {
  return tiers_in(&Tier<Function>::function, table);
}
/// The same for a function that has a twin with stores past the caches.
template <class Function, std::size_t entries>
std::vector<Tier<Function>> tiers_in(Function* const (&table)[entries],
                                     Function* const (&streaming)[entries]) {
  return tiers_in(&Tier<Function>::function, table, &Tier<Function>::streaming, streaming);
}

/// The words of a variant that is registered once per tier. `{}` in the summary stands for the tier.
struct TierWords {
  std::string_view name, summary, after = {}, precision = {};
};

/// Registers `name@tier` for each of `tiers`; kernel_of(tier, problem, input) makes its kernel.
template <class Op, class AnyTier, class KernelOf>
void add_tiers(Registry& r, const std::vector<AnyTier>& tiers, const TierWords& words,
               const KernelOf& kernel_of) {
  for (const AnyTier& tier : tiers) {
    const std::size_t at = std::min(words.summary.find("{}"), words.summary.size());
    std::string summary(words.summary.substr(0, at));
    if (at < words.summary.size()) summary.append(tier.name).append(words.summary.substr(at + 2));
    r.add<Op>({.name = std::string(words.name) + "@" + tier.name,
               .summary = summary,
               .after = words.after,
               .precision = words.precision,
               .prepare = [tier, kernel_of](const auto& p, const auto& in,
                                            const Context&) { return kernel_of(tier, p, in); },
               .unfit = [why = tier.unfit](const auto&, const Context&) { return why; }});
  }
}

/// Returns the first of `tiers`, best first, that runs here: the portable one runs everywhere, and so does
/// the only one of a build on the machine that it is for.
template <class AnyTier>
AnyTier best_of(std::vector<AnyTier> tiers) {
  const auto best = std::ranges::find_if(tiers, [](const AnyTier& tier) { return !tier.unfit; });
  assert(best != tiers.end());
  return std::move(*best);
}

}  // namespace assay
