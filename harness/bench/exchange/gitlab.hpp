/// A comparison as GitLab shows it beside the lines of a merge request.
#pragma once

#include "bench/compare/pull_request.hpp"

#include <string>

namespace assay {

/// Returns a Code Quality report: an array with an entry for each trial that fails, at the changed file
/// behind it, or at `elsewhere`, the suite, where no file is known. A finding has the same fingerprint in
/// every run, so that GitLab recognises new findings.
std::string gitlab_code_quality(const PullRequest& page, const std::string& elsewhere);

}  // namespace assay
