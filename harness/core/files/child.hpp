/// Child processes that are started without a shell and end with their parent.
#pragma once

#include "assay/error.hpp"

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// What a child's environment has instead of this process's own: variables that are set, or taken out where
/// there is no value.
using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;

struct ChildSetting {
  Variables environment;
  bool fixed_addresses = false;  ///< address randomization off
  std::filesystem::path output;  ///< standard output and error go here; empty leaves them as they are
};

/// Starts `program` with these arguments (the program's name is put before them). Throws Error when it cannot
/// be started.
pid_t start_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                  const ChildSetting& setting);

/// Whether address randomization can be turned off: containers may forbid it.
bool can_fix_addresses();

/// A child that a kernel took down with it: the program exits as if it had crashed itself.
class ChildCrash : public Error {
  using Error::Error;
};

/// How a child ended.
struct ChildEnd {
  pid_t child = 0;
  int exit_code = 0;  ///< -1 when a signal ended it
  int signal = 0;
  bool passed() const { return exit_code == 0 && signal == 0; }
  /// By a signal that nobody handled, or by that of programs of assay that report their crash.
  bool crashed() const { return signal != 0 || exit_code == reported_crash; }
  static constexpr int reported_crash = 4;  ///< exit_code::crashed, which later stages know
  /// "ended with exit code 4", "was ended by signal 11 (Segmentation fault)".
  std::string text() const;
};

/// Waits for all of them. The first that fails, or `stopped()`, ends the others, and is what is returned;
/// else the last that passed.
ChildEnd wait_for_all(std::vector<pid_t> children, const std::function<bool()>& stopped);

}  // namespace assay
