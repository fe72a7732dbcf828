/// The trials that fail in a comparison, for CI engines that annotate lines.
#pragma once

#include "bench/compare/pull_request.hpp"

#include <string>
#include <vector>

namespace assay {

struct FailedTrial {
  std::string kind;   ///< regression, disagreement, impossible time, crash, hang or error
  std::string key;    ///< of the trial
  std::string file;   ///< the changed source file behind it; empty where it is not known
  std::string text;   ///< the finding
  std::string again;  ///< the command that repeats it; empty where none is known
};

/// Returns wrong, impossible and failed rows, then slower rows, the slowest first.
std::vector<FailedTrial> failed_trials(const PullRequest& page);

}  // namespace assay
