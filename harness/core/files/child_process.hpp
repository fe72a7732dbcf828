/// Child processes: programs that the harness starts without a shell, and copies of itself.
///
/// Every child has a process group of its own, by which it is ended together with what it started, and reads
/// nothing from the terminal. No child outlives its parent: the kernel kills it with the *thread* that
/// started it, however that ends. So children are started by threads that live as long as they wait for them.
///
/// Commands of others (git, CMake, Ninja) start programs of their own, in groups of their own. Between them
/// and this process stands a keeper, a process that inherits whatever they leave behind and ends all of it
/// when it is asked to, or when this process has ended.
#pragma once

#include "assay/error.hpp"
#include "assay/hooks.hpp"

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// Differences of a child's environment from this process's own: variables that are set, or taken out where
/// there is no value.
using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;

struct Command {
  std::vector<std::string> words;  ///< the program, looked up in PATH, and its arguments
  std::filesystem::path folder;    ///< it runs here; empty for where this process does
};

struct ChildSetting {
  Variables environment;
  bool fixed_addresses = false;  ///< address randomization off
  std::filesystem::path
      output;               ///< standard output and error are appended here; empty leaves them as they are
  std::optional<int> core;  ///< the only one that it may run on, and what it starts
};

/// Throws Error when it cannot be started.
pid_t start_child(const Command& command, const ChildSetting& setting = {});

/// A copy of this process, which ends with what `work` returns and runs no destructors. Only the calling
/// thread goes on in it.
pid_t fork_child(const std::function<int()>& work);

/// Whether address randomization can be turned off: containers may forbid it.
bool can_fix_addresses();

/// A child that a kernel took down with it: the program exits as if it had crashed itself.
class ChildCrash : public Error {
  using Error::Error;
};

/// The end of a child.
struct ChildEnd {
  pid_t child = 0;
  int exit_code = 0;  ///< -1 when a signal ended it
  int signal = 0;
  bool overdue = false;  ///< it was ended since it had taken too long
  bool passed() const { return exit_code == 0 && signal == 0; }
  /// By a signal that nobody handled, or by that of programs of assay that report their crash.
  bool crashed() const { return signal != 0 || exit_code == reported_crash; }
  static constexpr int reported_crash = 4;  ///< exit_code::crashed, which later stages know
  /// "ended with exit code 4", "was ended by signal 11 (Segmentation fault)".
  std::string text() const;
};

/// Functions may be empty.
struct Patience {
  std::function<bool()> stopped;  ///< the user wants no more
  std::function<bool()> overdue;  ///< asked ten times a second: a child has taken too long
  /// Between asking to end and killing, for those that tidy up: Ninja and git remove what they left half
  /// done.
  std::chrono::milliseconds grace{1000};
};

/// Waits for all of them. The first that fails ends the others and is what is returned; else the last that
/// passed. Those that are overdue are killed. After a stop they are asked to end, and killed when they have
/// not within the grace.
ChildEnd wait_for_children(std::vector<pid_t> children, const Patience& patience = {});

/// Waits for a command and returns its exit code, or 128 plus the signal that ended it. What it says goes to
/// the end of `log`. What it leaves running when it ends by itself stays. Variables by which git tells its
/// hooks of a repository are kept from it: a command says itself where it works. Throws Error when it cannot
/// be started, and Stopped when it was ended on `hooks.stopped()`.
int run_child(const Command& command, const std::filesystem::path& log, const Hooks& hooks);

struct Answer {
  int exit_code = 0;
  std::string output, errors;
  double seconds = 0;      ///< from its start to its end
  double cpu_seconds = 0;  ///< of processors, those of its children that it waited for included
};

/// The same for a command whose output is wanted, or its time.
Answer ask_child(const Command& command, const Hooks& hooks);

/// The last lines of a file, each indented; no more than `lines`.
std::string last_lines(const std::filesystem::path& file, int lines);

}  // namespace assay
