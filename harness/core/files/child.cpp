#include "core/files/child.hpp"

#include "assay/error.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace assay {
namespace {

constexpr int cannot_start = 127;

[[noreturn]] void become(const char* program, char* const* arguments, const ChildSetting& setting) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (setting.fixed_addresses) personality(ADDR_NO_RANDOMIZE);
  for (const auto& [name, value] : setting.environment) {
    if (value) {
      setenv(name.c_str(), value->c_str(), /*overwrite=*/1);
    } else {
      unsetenv(name.c_str());
    }
  }
  if (!setting.output.empty()) {
    const int file = open(setting.output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (file < 0) _exit(cannot_start);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
  }
  execv(program, arguments);
  _exit(cannot_start);
}

ChildEnd end_of(pid_t child, int status) {
  if (WIFSIGNALED(status)) return {.child = child, .exit_code = -1, .signal = WTERMSIG(status)};
  return {.child = child, .exit_code = WEXITSTATUS(status)};
}

void end_all(const std::vector<pid_t>& children) {
  for (const pid_t child : children) kill(child, SIGKILL);
  for (const pid_t child : children) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

}  // namespace

pid_t start_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                  const ChildSetting& setting) {
  if (access(program.c_str(), X_OK) != 0) {
    throw Error(program.string(), std::strerror(errno), "name a program that can be run");
  }
  std::vector<std::string> all{program.string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& argument : all) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0)
    throw Error(program.string(), std::strerror(errno), "free memory or raise the process limit");
  if (child == 0) become(program.c_str(), pointers.data(), setting);
  return child;
}

bool can_fix_addresses() {
  constexpr unsigned long ask = 0xffffffff;
  const int now = personality(ask);
  if (now < 0) return false;
  const bool can = personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) >= 0;
  personality(static_cast<unsigned long>(now));
  return can;
}

std::string ChildEnd::text() const {
  if (signal != 0) return fmt::format("was ended by signal {} ({})", signal, strsignal(signal));
  if (exit_code == cannot_start) return "could not be started";
  return fmt::format("ended with exit code {}", exit_code);
}

// Blocks instead of looking now and then: looking takes time on the core that the children measure on. An
// interrupt ends the wait, since its handler does not restart system calls.
ChildEnd wait_for_all(std::vector<pid_t> children, const std::function<bool()>& stopped) {
  ChildEnd last;
  while (!children.empty()) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended < 0 && stopped && stopped()) {
      end_all(children);
      return {.exit_code = -1, .signal = SIGINT};
    }
    if (std::erase(children, ended) == 0) continue;
    last = end_of(ended, status);
    if (!last.passed()) {
      end_all(children);
      return last;
    }
  }
  return last;
}

}  // namespace assay
