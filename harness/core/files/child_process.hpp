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
#include "core/files/answers.hpp"
#include "core/files/descriptor.hpp"

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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

/// The output of children that call kernels: neither the terminal nor documents on standard output are
/// theirs. Whatever they print is read, so that nobody waits, and the end of it is kept.
class Printed {
 public:
  struct Stream {
    Descriptor read_end, write_end;
    std::string text;
  };
  Printed();

  /// In a copy of this process: prints here from now on, and reads nothing.
  void take_over() const;
  /// Reads what is there. Called by wait_for_children().
  void read();
  void clear();
  /// `it printed: "lost a tile\n"`, escaped and cut, after `separator`; empty where nothing was.
  std::string in_words(std::string_view separator = "") const;
  const std::array<Stream, 2>& streams() const { return streams_; }

 private:
  std::array<Stream, 2> streams_;  ///< standard output and error
};

struct ChildSetting {
  Variables environment;
  bool fixed_addresses = false;  ///< address randomization off
  std::filesystem::path
      output;                  ///< standard output and error are appended here; empty leaves them as they are
  std::optional<int> core;     ///< the only core for it and its children
  Printed* printed = nullptr;  ///< takes standard output and error instead
  Answers* answers = nullptr;  ///< it keeps the child's end
  int record = -1;             ///< it keeps this descriptor of a SharedRecord; -1 for none
};

/// Throws Error when it cannot be started.
pid_t start_child(const Command& command, const ChildSetting& setting = {});

/// A copy of this process, which ends with what `work` returns and runs no destructors. Only the calling
/// thread goes on in it.
pid_t fork_child(const std::function<int()>& work);

/// Whether address randomization can be turned off: containers may forbid it.
bool can_fix_addresses();

/// A kernel crashed its child process: the program exits as if it had crashed itself.
class ChildCrash : public Error {
  using Error::Error;
};

struct ChildEnd {
  pid_t child = 0;
  int exit_code = 0;  ///< -1 when a signal ended it
  int signal = 0;
  bool overdue = false;      ///< it took too long and was ended
  int signal_to_parent = 0;  ///< that it sent to this process, and was ended for
  bool passed() const { return exit_code == 0 && signal == 0; }
  /// By a signal that nobody handled, or by the exit code with which programs of assay report their crash.
  bool crashed() const { return signal != 0 || exit_code == reported_crash; }
  static constexpr int reported_crash = 4;  ///< exit_code::crashed, which later stages know
  /// "ended with exit code 4", "was ended by signal 11 (Segmentation fault)".
  std::string text() const;
};

/// Functions may be empty.
struct Patience {
  std::function<bool()> stopped;    ///< the user wants no more
  std::function<bool()> overdue;    ///< asked ten times a second: a child has taken too long
  std::vector<Printed*> printed{};  ///< where the children print
  std::vector<Answers*> answers{};  ///< of the children
  /// Time between asking a child to end and killing it. Ninja and git use it to remove unfinished files.
  std::chrono::milliseconds grace{1000};
};

/// Waits for all children. Returns the first that failed, after ending the others, or else the last that
/// passed. Kills overdue children, and processes that a child leaves in its group. After a stop, asks the
/// children to end, and kills them after the grace.
ChildEnd wait_for_children(std::vector<pid_t> children, const Patience& patience = {});

/// The end of a child of which nothing else is waited for; nothing while it runs.
std::optional<ChildEnd> end_of(pid_t child);

/// For handlers of signals: whether this process sent it to itself, or a child that is waited for did, or one
/// of the child's group, instead of the user. In the latter cases the wait ends that child. The system tells
/// the sender, but for signals of sigqueue(); SIGKILL and SIGSTOP come without any handler.
bool is_sent_by_kernel(int signal, const siginfo_t& about);

/// The processes that this one, or another that is named by its number, has started, or inherited as a
/// subreaper, and not waited for yet.
std::vector<pid_t> children_of_process(const std::string& process = "self");

/// As long as it lives, this process inherits what children leave behind, and kills that at the end. Children
/// of before stay. Does nothing where another program embeds this one, whose children may come at any time.
class Inheritance {
 public:
  Inheritance();
  ~Inheritance();
  Inheritance(const Inheritance&) = delete;
  Inheritance& operator=(const Inheritance&) = delete;

 private:
  bool active_;
  int subreaper_before_ = 0;
  std::vector<pid_t> before_;
};

/// Waits for a command and returns its exit code, or 128 plus the signal that ended it. Appends its output to
/// `log`. Processes that it leaves behind keep running. It does not get the variables by which git tells its
/// hooks of a repository, since a command names its folder itself. Throws Error when it cannot be started,
/// and Stopped when `hooks.stopped()` ended it.
int run_child(const Command& command, const std::filesystem::path& log, const Hooks& hooks);

struct Spent {
  double seconds = 0;      ///< from its start to its end
  double cpu_seconds = 0;  ///< processor time, with the children that it waited for
  /// Seconds in which its first thread ran, and waited for a processor; 0 where the system does not say.
  double first_thread_seconds = 0, queued_seconds = 0;
  double keeper_queued_seconds = 0;  ///< in which who takes these times waited for a processor
  double peak_bytes = 0;             ///< of memory that it or one of those children had at a time
};

struct Answer : Spent {
  int exit_code = 0;
  std::string output, errors;
};

/// The same for a command whose output is wanted, or its time.
Answer ask_child(const Command& command, const Hooks& hooks);
/// The same for commands that run at the same time. If one fails, the others are ended, and have no times.
std::vector<Answer> ask_children(const std::vector<Command>& commands, const ChildSetting& setting,
                                 const Hooks& hooks);

/// The last lines of a file, each indented; no more than `lines`.
std::string last_lines(const std::filesystem::path& file, int lines);

/// Returns the fields of a `stat` file of /proc, the line of a process or a thread, each at its number in
/// proc(5), from 1 on. The second, a name that may hold any character, is left empty. Returns nothing where
/// there is no such process.
std::vector<std::string> fields_of_stat(const std::string& file);

}  // namespace assay
