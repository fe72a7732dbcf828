/// A comparison as GitHub Actions reads it: workflow commands and outputs of a step.
///
/// Names may come from an untrusted change, and a workflow command ends with its line: nothing of a name may
/// begin a second one.
#pragma once

#include "bench/compare/pull_request.hpp"

#include <cstddef>
#include <string>

namespace assay {

/// GitHub shows ten errors of a step and drops the others without a word: nine, and a tenth that counts.
inline constexpr std::size_t most_annotations = 9;

/// GitHub refuses a summary of more than 1,024 KiB, and shows none of it then.
inline constexpr std::size_t most_summary_bytes = 900 * 1024;

/// One error for each changed file that slowed trials, with the worst of them, and for each of the other
/// worst rows: wrong, impossible and failed ones, then slower ones by how much; and for each objection. Empty
/// when there is no such row and nothing ran out.
std::string github_annotations(const PullRequest& page, const std::string& suite);

/// Lines `verdict=` and `regressions=`: for the file of outputs. `verdict` is one word.
std::string github_outputs(const Comparison& comparison, const std::string& verdict);

}  // namespace assay
