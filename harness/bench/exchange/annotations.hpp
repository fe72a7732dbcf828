/// The trials that fail in a comparison, as GitHub and GitLab show them beside the lines of a change; and a
/// comparison as JUnit's XML, which GitLab, Jenkins, Azure and Bazel show.
///
/// Names may come from an untrusted change, and a workflow command of GitHub ends with its line: nothing of a
/// name may begin a second one.
#pragma once

#include "assay/compare.hpp"
#include "bench/compare/pull_request.hpp"

#include <cstddef>
#include <string>

namespace assay {

/// Returns a Code Quality report: an array with an entry for each trial that fails, at the changed file
/// behind it, or at `elsewhere`, the suite, where no file is known. A finding has the same fingerprint in
/// every run, so that GitLab recognises new findings.
std::string gitlab_code_quality(const PullRequest& page, const std::string& elsewhere);

/// GitHub shows ten errors of a step and drops others silently: nine are written, a tenth counts the rest.
inline constexpr std::size_t most_annotations = 9;

/// GitHub refuses a summary of more than 1,024 KiB, and shows none of it then.
inline constexpr std::size_t most_summary_bytes = 900 * 1024;

/// Writes an error for each changed file that slowed trials, with the worst trial, for each other wrong,
/// impossible, failed or slower row, and for each objection. Empty without such rows.
std::string github_annotations(const PullRequest& page, const std::string& suite);

/// Lines `verdict=` and `regressions=`: for the file of outputs. `verdict` is one word.
std::string github_outputs(const Comparison& comparison, const std::string& verdict);

/// Writes a test case for each verdict, and a failing one for each objection. Slower, wrong and impossible
/// trials fail, with the types `regression`, `disagreement` and `impossible`, the interval, the limit and the
/// command that repeats them. Trials that could not be judged are skipped, with the reason. `command` repeats
/// the run; `-k` follows it. Names may come from an untrusted change: what XML cannot hold is replaced.
///
/// `undecided` says why no verdict was reached. It becomes a test case with an error, since a file with
/// skipped cases alone looks green.
std::string to_junit(const Comparison& comparison, const Results& current, const std::string& command,
                     const std::string& undecided = "");

}  // namespace assay
