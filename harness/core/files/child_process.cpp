#include "core/files/child_process.hpp"

#include "assay/error.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>

namespace assay {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

std::string reason(int code) { return std::generic_category().message(code); }

class OpenFile {
 public:
  OpenFile(const fs::path& file, int flags)
      : OpenFile(::open(file.c_str(), flags | O_CLOEXEC, 0666), file.string()) {}
  /// In memory, to be read when the child has ended.
  OpenFile() : OpenFile(memfd_create("output of a child", MFD_CLOEXEC), "memory for output") {}
  ~OpenFile() { ::close(value_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int value() const { return value_; }
  std::string content() const {
    std::string out;
    std::array<char, 65536> part;
    for (;;) {
      const ssize_t count = pread(value_, part.data(), part.size(), static_cast<off_t>(out.size()));
      if (count <= 0) return out;
      out.append(part.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  OpenFile(int value, const std::string& name) : value_(value) {
    if (value_ < 0) throw Error(name, "cannot open: " + reason(errno), "check permissions and free space");
  }
  int value_;
};

/// What posix_spawn wants to know, given back when done.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    // A group of its own, by which the child is ended together with what it started.
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void use(const OpenFile& file, int as) { posix_spawn_file_actions_adddup2(&actions_, file.value(), as); }
  void enter(const fs::path& folder) { posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str()); }

  /// 0, or the error.
  int start(pid_t& child, std::vector<char*>& words, std::vector<char*>& environment) const {
    return posix_spawnp(&child, words.front(), &actions_, &attributes_, words.data(), environment.data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

bool points_git_elsewhere(std::string_view variable) {
  constexpr std::array<std::string_view, 8> names{
      "GIT_DIR=",    "GIT_WORK_TREE=",  "GIT_INDEX_FILE=", "GIT_OBJECT_DIRECTORY=",
      "GIT_PREFIX=", "GIT_COMMON_DIR=", "GIT_NAMESPACE=",  "GIT_ALTERNATE_OBJECT_DIRECTORIES="};
  return std::ranges::any_of(names, [&](std::string_view name) { return variable.starts_with(name); });
}

std::vector<char*> environment_of_child() {
  std::vector<char*> out;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!points_git_elsewhere(*variable)) out.push_back(*variable);
  }
  out.push_back(nullptr);
  return out;
}

pid_t start(const Command& command, const OpenFile& output, const OpenFile& errors) {
  const OpenFile nothing("/dev/null", O_RDONLY);
  SpawnPlan plan;
  plan.use(nothing, STDIN_FILENO);
  plan.use(output, STDOUT_FILENO);
  plan.use(errors, STDERR_FILENO);
  plan.enter(command.folder);

  std::vector<std::string> texts = command.words;
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  std::vector<char*> environment = environment_of_child();
  pid_t child = -1;
  if (const int code = plan.start(child, words, environment)) {
    throw Error(command.words.front(),
                fmt::format("cannot be started in {}: {}", command.folder.string(), reason(code)),
                "install it, or put the folder it is in into PATH");
  }
  return child;
}

/// Nothing as long as it runs.
bool has_ended(pid_t child, int& status) {
  const pid_t found = waitpid(child, &status, WNOHANG);
  if (found < 0 && errno != EINTR) throw Error("a child process", reason(errno), "do not ignore SIGCHLD");
  return found == child;
}

/// Ends the child and the rest of its group. Ninja and git remove what they left half done when asked to end;
/// what has not ended after five seconds is killed.
void end_group(pid_t child) {
  kill(-child, SIGTERM);
  int status = 0;
  bool leader_ended = false;
  for (int i = 0; i < 500; ++i) {
    leader_ended = leader_ended || has_ended(child, status);
    if (leader_ended && kill(-child, 0) != 0) return;
    std::this_thread::sleep_for(milliseconds(10));
  }
  kill(-child, SIGKILL);
  if (!leader_ended) waitpid(child, &status, 0);
}

int wait_for(pid_t child, const Hooks& hooks) {
  int status = 0;
  // Looked at rarely once it turns out to be long: nobody measures while this waits.
  for (milliseconds pause(1); !has_ended(child, status); pause = std::min(2 * pause, milliseconds(50))) {
    if (hooks.stopped()) {
      end_group(child);
      throw Stopped{};
    }
    std::this_thread::sleep_for(pause);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_child(const Command& command, const fs::path& log, const Hooks& hooks) {
  if (hooks.stopped()) throw Stopped{};
  const OpenFile said(log, O_WRONLY | O_CREAT | O_APPEND);
  return wait_for(start(command, said, said), hooks);
}

Answer ask_child(const Command& command, const Hooks& hooks) {
  if (hooks.stopped()) throw Stopped{};
  const OpenFile output, errors;
  const int exit_code = wait_for(start(command, output, errors), hooks);
  return {exit_code, output.content(), errors.content()};
}

std::string last_lines(const fs::path& file, int lines) {
  std::ifstream in(file);
  std::deque<std::string> kept;
  for (std::string line; std::getline(in, line);) {
    kept.push_back("    " + line);
    if (static_cast<int>(kept.size()) > lines) kept.pop_front();
  }
  return fmt::format("{}", fmt::join(kept, "\n"));
}

}  // namespace assay
