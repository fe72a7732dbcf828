/// The command line: which verb, with which options.
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

}  // namespace assay
