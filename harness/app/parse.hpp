/// The command line: which verb, with which options.
#pragma once

#include "app/verbs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// What to do, or what to print and exit with: help and version are not errors, everything else is.
struct CommandLine {
  std::optional<Call> call;
  std::string output, errors;
  int exit_code = 0;
};

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace assay
