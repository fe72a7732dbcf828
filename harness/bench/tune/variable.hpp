/// Variables of the environment that tell variants of one name how to run, and the values to try.
#pragma once

#include "assay/caches.hpp"
#include "bench/measure/sides.hpp"
#include "core/tune/turns.hpp"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct TunedVariable {
  std::string_view name;     ///< OPENBLAS_CORETYPE
  std::string_view variant;  ///< that reads it, in every operation: openblas
  TuneWords words;
  std::string_view title;   ///< of a record
  std::string_view advice;  ///< of a record: when the variable is read, and where it does not belong
};

/// Tells OpenBLAS which of its kernels to use.
inline constexpr TunedVariable core_type{
    .name = "OPENBLAS_CORETYPE",
    .variant = "openblas",
    .words = {.setting = "core type",
              .settings = "core types",
              .present = "the default",
              .preferred = "that needs the fewest instruction sets",
              .control = "the default against itself was {}"},
    .title = "Core type of OpenBLAS",
    .advice =
        "OPENBLAS_CORETYPE is read when OpenBLAS is loaded, by every program that is linked with it. It "
        "overrules what OpenBLAS detects, on other machines too: set it for this machine, and measure again "
        "with another release."};

/// Tells our kernels the sizes of caches from which they take their blocks and thresholds.
inline constexpr TunedVariable reckoned_caches{
    .name = caches_variable,
    .variant = "auto",
    .words = {.setting = "size of caches",
              .settings = "sizes of caches",
              .present = "the default",
              .preferred = "that differs least from the sizes that the system reports",
              .control = "the default against itself was {}"},
    .title = "Caches that kernels reckon with",
    .advice =
        "ASSAY_CACHES holds the bytes of the first, the second and the last cache that kernels take their "
        "blocks and thresholds from. The chosen sizes are kept for this machine and this version in the "
        "user's cache folder, where every later run finds them. Times that were recorded before are not "
        "comparable: record baselines again."};

/// Returns the core type that OpenBLAS says it uses in an environment: `Haswell`.
using ReportedCore = std::function<std::string(const Variables&)>;

/// The default first, then the core types asked for, or all that can be executed, in the order of
/// openblas_cores(). Core types that OpenBLAS does not take, or takes by itself, are left out with the
/// reason. Throws Error for an unknown core type, and for one that this processor cannot execute: it is never
/// tried.
std::vector<Candidate> core_candidates(const std::vector<std::string>& wanted,
                                       const std::vector<std::string>& features,
                                       const ReportedCore& reported);

/// The default first: the sizes that the system reports. Then the sizes asked for, or, with none, each size
/// alone halved and doubled, and a quarter of the last, which neighbours may share. Proposed sizes that do
/// not grow from cache to cache are passed over, and asked ones refused with an Error.
std::vector<Candidate> cache_candidates(const std::vector<std::string>& wanted, const CacheSizes& system);

struct VariablePolicy {
  TuneRounds rounds;
  std::filesystem::path program;  ///< every side runs it
  std::size_t shared_bytes = 0;   ///< the most that a case may take
};

/// Measures rounds in which each candidate is a process of its own, beside a second default as the control.
/// All take turns slice by slice, in an order that is drawn, on the same core and the same data. The first
/// round checks every variant in its process.
void measure_values(const TunedVariable& variable, std::vector<Candidate>& candidates,
                    std::span<const TrialRequest> trials, const VariablePolicy& policy,
                    const SampleSides& sample, const Hooks& hooks);

}  // namespace assay
