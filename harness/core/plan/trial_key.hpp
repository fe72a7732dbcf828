/// The name of a trial, as results, baselines, ledgers and filters have it, also those of earlier versions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

struct TrialKey {
  std::string operation, variant, problem;
  int threads = 1;
  /// operation/variant/problem#threads
  std::string text() const;
};

/// Splits the key of a trial into its parts. Returns nothing for names of other programs.
std::optional<TrialKey> trial_key(std::string_view text);

/// Replaces former names of tiers by their present names, in the name of a variant, the key of a trial, or a
/// filter: gemm/simd@avx3/m=4,n=4,k=4#1 becomes gemm/simd@avx512/m=4,n=4,k=4#1.
std::string with_present_names(std::string text);

}  // namespace assay
