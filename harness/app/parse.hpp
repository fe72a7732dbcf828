/// The command line: which verb, with which options, and what its exit code means to whoever started it.
#pragma once

#include "app/verbs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// A call to perform, or a text to print and an exit code. Only help and version are not errors.
struct CommandLine {
  std::optional<Call> call;
  std::string output, errors;
  int exit_code = 0;
};

CommandLine parse_command_line(int argc, const char* const* argv);

enum class ExitCodes {
  usual,  ///< those of assay::exit_code
  bisect  ///< for `git bisect run`
};

/// `git bisect run` takes 0 for good, 125 for a commit that cannot be judged, and every other code up to 127
/// for bad: a suite that does not exist yet, or a machine without a baseline, would blame an innocent commit.
/// So 1, a disagreement or a regression, is bad, and all that is neither 0 nor 1 becomes 125. A gate ends
/// with neither while a trial is left that could be slower, and an acceptance that ran out is not bad
/// (FailurePolicy).
int translated(int code, ExitCodes meaning);

/// Reads `--exit-code` from the bare arguments: a command line that cannot be parsed, in an old commit that
/// lacks an option, must not be taken for a bad commit.
ExitCodes asked_exit_codes(int argc, const char* const* argv);

}  // namespace assay
