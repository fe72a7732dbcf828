/// The name of a trial, as results, baselines, ledgers and filters have it.
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

}  // namespace assay
