/// A comparison as GitHub Actions reads it: workflow commands, the summary of a step, its outputs.
///
/// Names may come from an untrusted change, and a workflow command ends with its line: nothing of a name may
/// begin a second one.
#pragma once

#include "assay/compare.hpp"

#include <cstddef>
#include <string>

namespace assay {

/// GitHub shows ten errors of a step and drops the others without a word: nine, and a tenth that counts.
inline constexpr std::size_t most_annotations = 9;

/// GitHub refuses a summary of more than 1,024 KiB, and shows none of it then.
inline constexpr std::size_t most_summary_bytes = 900 * 1024;

/// GitHub refuses a comment of more than 65,536 characters.
inline constexpr std::size_t most_comment_bytes = 60'000;

/// One error for each of the worst rows: wrong, impossible and failed ones, then slower ones by how much, and
/// for each objection. `command` repeats the run; `-k` is to follow. Empty when there is no such row and
/// nothing ran out.
std::string github_annotations(const Comparison& comparison, const std::string& suite,
                               const std::string& command);

/// The table of the comparison and the commands that repeat its worst rows, as Markdown; cut with a note
/// where it would exceed the limit together with the `bytes_there` of the file that it is appended to.
std::string github_summary(const Comparison& comparison, const Results& before, const Results& after,
                           const std::string& command, std::size_t bytes_there);

/// Markdown that may be a comment of a pull request: cut with a note where it would exceed the limit.
std::string github_comment(const std::string& markdown);

/// Lines `verdict=` and `regressions=`: for the file of outputs. `verdict` is one word.
std::string github_outputs(const Comparison& comparison, const std::string& verdict);

}  // namespace assay
