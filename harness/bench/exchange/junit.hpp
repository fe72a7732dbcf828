/// A comparison as JUnit's XML, which GitLab, Jenkins, Azure and Bazel show.
#pragma once

#include "assay/compare.hpp"

#include <string>

namespace assay {

/// Writes a test case for each verdict, and a failing one for each objection. Slower, wrong and impossible
/// trials fail, with the types `regression`, `disagreement` and `impossible`, the interval, the limit and the
/// command that repeats them. Trials that could not be judged are skipped, with the reason. `command` repeats
/// the run; `-k` follows it. Names may come from an untrusted change: characters that XML cannot hold are
/// replaced.
///
/// `undecided` says why no verdict was reached. It becomes a test case with an error, since a file with
/// skipped cases alone looks green.
std::string to_junit(const Comparison& comparison, const Results& current, const std::string& command,
                     const std::string& undecided = "");

}  // namespace assay
