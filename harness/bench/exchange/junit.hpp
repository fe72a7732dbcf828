/// A comparison as JUnit's XML, which GitLab, Jenkins, Azure and Bazel show.
#pragma once

#include "assay/compare.hpp"

#include <string>

namespace assay {

/// One test case per verdict, and one that fails per objection. Slower, wrong and impossible ones fail, with
/// the types `regression`, `disagreement` and `impossible`, the interval, the limit and the command that
/// repeats them; what could not be judged is skipped, with the reason. `command` repeats the run; `-k` is to
/// follow. Names may come from an untrusted change: whatever XML cannot hold is replaced.
///
/// `undecided` says why nothing was decided that should have been; it becomes a test case with an error,
/// since one with nothing but skipped cases looks green.
std::string to_junit(const Comparison& comparison, const Results& current, const std::string& command,
                     const std::string& undecided = "");

}  // namespace assay
