/// Programs that the harness starts and waits for: git, CMake, Ninja, a linker. No shell is involved.
#pragma once

#include "assay/hooks.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

struct Command {
  std::vector<std::string> words;  ///< the program, looked up in PATH, and its arguments
  std::filesystem::path folder;    ///< it runs here
};

/// Waits for it and returns its exit code, or 128 plus the signal that ended it. What it says goes to the end
/// of `log`. Variables by which git tells its hooks of a repository are kept from it: a command says itself
/// where it works. Throws Error when it cannot be started. On `hooks.stopped()` the child is ended with
/// its process group, and Stopped is thrown.
int run_child(const Command& command, const std::filesystem::path& log, const Hooks& hooks);

struct Answer {
  int exit_code = 0;
  std::string output, errors;
};

/// The same for a command whose output is wanted.
Answer ask_child(const Command& command, const Hooks& hooks);

/// The last lines of a file, each indented; no more than `lines`.
std::string last_lines(const std::filesystem::path& file, int lines);

}  // namespace assay
