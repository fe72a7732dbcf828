#include "core/files/child_process.hpp"

#include "core/files/processor_set.hpp"
#include "core/files/this_program.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int cannot_start = 127;

/// Between two looks at clocks and hooks. The end of a child and a signal are seen at once; more looks would
/// take time on the core that the children measure on.
constexpr milliseconds longest_sleep{100};

std::string reason(int code) { return std::generic_category().message(code); }

class OpenFile : public Descriptor {
 public:
  OpenFile(const fs::path& file, int flags)
      : OpenFile(::open(file.c_str(), flags | O_CLOEXEC, 0666), file.string()) {}
  /// In memory, to be read when the child has ended.
  OpenFile() : OpenFile(memfd_create("output of a child", MFD_CLOEXEC), "memory for output") {}
  OpenFile(int value, const std::string& name) : Descriptor(value) {
    if (value < 0) throw Error(name, "cannot open: " + reason(errno), "check permissions and free space");
  }
  std::string content() const {
    std::string out;
    std::array<char, 65536> part;
    for (;;) {
      const ssize_t count = pread(value(), part.data(), part.size(), static_cast<off_t>(out.size()));
      if (count <= 0) return out;
      out.append(part.data(), static_cast<std::size_t>(count));
    }
  }
};

/// Words as exec takes them.
class Words {
 public:
  explicit Words(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

std::vector<std::string> environment_with(const Variables& changes) {
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) out.emplace_back(*variable);
  for (const auto& [name, value] : changes) {
    const std::string start = name + "=";
    std::erase_if(out, [&](const std::string& variable) { return variable.starts_with(start); });
    if (value) out.push_back(start + *value);
  }
  return out;
}

/// Everything that the child needs, made before the fork. After the fork only functions that are safe in a
/// process of several threads may be called.
struct Launch {
  Words words, environment;
  fs::path folder;
  bool fixed_addresses;
  std::optional<int> core;
  int input, output, errors;  ///< -1 leaves a stream as it is
  std::array<int, 2> kept;    ///< descriptors that stay open in the program; -1 for none
};

/// In the child: its group, and the signal that it gets at the end of its parent, which may be over already.
void join_parent(pid_t parent, int signal = SIGKILL) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, signal);
  if (getppid() != parent) _exit(cannot_start);
}

[[noreturn]] void fail(int tell) {
  const int code = errno;
  static_cast<void>(!write(tell, &code, sizeof code));
  _exit(cannot_start);
}

[[noreturn]] void become(const Launch& launch, int tell) {
  if (launch.fixed_addresses) personality(ADDR_NO_RANDOMIZE);
  if (launch.core) {
    ProcessorSet one;
    one.add(*launch.core);
    one.give_to(0);
  }
  if (!launch.folder.empty() && chdir(launch.folder.c_str()) != 0) fail(tell);
  for (const auto& [from, to] :
       {std::pair{launch.input, STDIN_FILENO}, std::pair{launch.output, STDOUT_FILENO},
        std::pair{launch.errors, STDERR_FILENO}}) {
    if (from >= 0 && dup2(from, to) < 0) fail(tell);
  }
  for (const int one : launch.kept) {
    if (one >= 0) fcntl(one, F_SETFD, 0);
  }
  execvpe(launch.words.get()[0], launch.words.get(), launch.environment.get());
  fail(tell);
}

[[noreturn]] void refuse(const std::string& program, const fs::path& folder, int code) {
  throw Error(
      program,
      fmt::format("cannot be started{}: {}", folder.empty() ? "" : " in " + folder.string(), reason(code)),
      "install it, or put the folder it is in into PATH");
}

/// Children, where handlers of signals can read them; 0 for none.
std::array<std::atomic<pid_t>, 64> known_children;
/// The child that sent a signal to this process, and the signal.
std::atomic<pid_t> signalling_child;
std::atomic<int> signal_of_child;

void replace_child(pid_t before, pid_t now) {
  for (std::atomic<pid_t>& place : known_children) {
    pid_t known = before;
    if (place.compare_exchange_strong(known, now)) return;
  }
}
void note_child(pid_t child) { replace_child(0, child); }
void forget_child(pid_t child) { replace_child(child, 0); }

pid_t forked() {
  std::fflush(nullptr);  // or both processes would write what is buffered
  // A signal of the child comes when it is known.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t child = fork();
  const int code = errno;
  if (child > 0) note_child(child);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) throw Error("a child process", reason(code), "free memory or raise the process limit");
  if (child > 0) setpgid(child, child);  // whoever of the two comes first
  return child;
}

/// Kills the children of this process until it has none. Where it inherits theirs, no descendant is left.
void kill_descendants() {
  do {
    for (const pid_t child : children_of_process()) kill(child, SIGKILL);
  } while (waitpid(-1, nullptr, 0) > 0 || errno != ECHILD);
}

void reap(pid_t child) {
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// In a keeper: how long the first thread of a process ran and was queued; "self" is the keeper's own.
std::pair<double, double> scheduled_seconds(const char* process) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "/proc/%s/schedstat", process);
  const Descriptor file(open(text.data(), O_RDONLY | O_CLOEXEC));
  if (file.value() < 0) return {};
  const ssize_t count = read(file.value(), text.data(), text.size() - 1);
  text[static_cast<std::size_t>(std::max<ssize_t>(count, 0))] = '\0';
  char* rest = text.data();
  const double ran = 1e-9 * static_cast<double>(std::strtoull(rest, &rest, 10));
  return {ran, 1e-9 * static_cast<double>(std::strtoull(rest, &rest, 10))};
}

void note_first_thread(pid_t ended, Spent& spent) {
  std::array<char, 16> process{};
  std::snprintf(process.data(), process.size(), "%d", ended);
  std::tie(spent.first_thread_seconds, spent.queued_seconds) = scheduled_seconds(process.data());
}

/// Memory through which a keeper reports it.
auto shared_spent() {
  void* const told = mmap(nullptr, sizeof(Spent), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (told == MAP_FAILED) throw Error("memory of a child", reason(errno), "free memory");
  const auto release = [](Spent* spent) { munmap(spent, sizeof(Spent)); };
  return std::unique_ptr<Spent, decltype(release)>(static_cast<Spent*>(told), release);
}

double processor_seconds(const rusage& used) {
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/// In a keeper: starts the program, and ends as it did. On SIGTERM, which the end of the parent sends as
/// well, asks the program to end; after the grace, kills it and all that it started.
[[noreturn]] void keep(const Launch& launch, pid_t parent, OpenFile& told, Spent& spent) {
  sigset_t awaited, before;
  sigemptyset(&awaited);
  for (const int signal : {SIGCHLD, SIGTERM}) sigaddset(&awaited, signal);
  sigprocmask(SIG_BLOCK, &awaited, &before);
  join_parent(parent, SIGTERM);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto start = Clock::now();
  const pid_t keeper = getpid(), program = fork();
  if (program < 0) fail(told.value());
  if (program == 0) {
    join_parent(keeper);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    become(launch, told.value());
  }
  setpgid(program, program);
  told.close();
  const double queued_before = scheduled_seconds("self").second;
  int status = SIGKILL;
  std::optional<Clock::time_point> last;  // until those that were asked to end may run
  for (bool ended = false;;) {
    const timespec look{.tv_sec = 0, .tv_nsec = 10'000'000};
    if ((last ? sigtimedwait(&awaited, nullptr, &look) : sigwaitinfo(&awaited, nullptr)) == SIGTERM &&
        !last) {
      kill(-program, SIGTERM);
      last = Clock::now() + Patience{}.grace;
    }
    int found_status = 0;
    rusage used{};
    pid_t found = 0;
    siginfo_t about{};
    if (waitid(P_PID, static_cast<id_t>(program), &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        about.si_pid == program) {
      note_first_thread(program, spent);
    }
    while ((found = wait4(-1, &found_status, WNOHANG, &used)) > 0) {
      if (found != program) continue;
      spent.seconds = std::chrono::duration<double>(Clock::now() - start).count();
      spent.keeper_queued_seconds = scheduled_seconds("self").second - queued_before;
      spent.cpu_seconds = processor_seconds(used);
      spent.peak_bytes = 1024 * static_cast<double>(used.ru_maxrss);
      ended = true;
      status = found_status;
    }
    if (last ? found < 0 || Clock::now() > *last : ended) break;
  }
  if (last) kill_descendants();
  _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/// With `kept`, a keeper process stands between, keeps all descendants, and writes its times there.
pid_t start(const Command& command, const ChildSetting& setting, int output, int errors,
            Spent* kept = nullptr) {
  const OpenFile nothing("/dev/null", O_RDONLY);
  const Launch launch{
      .words = Words(command.words),
      .environment = Words(environment_with(setting.environment)),
      .folder = command.folder,
      .fixed_addresses = setting.fixed_addresses,
      .core = setting.core,
      .input = nothing.value(),
      .output = output,
      .errors = errors,
      .kept = {setting.answers != nullptr ? setting.answers->descriptor() : -1, setting.record}};
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) refuse(command.words.front(), command.folder, errno);
  OpenFile heard(ends[0], "a pipe"), told(ends[1], "a pipe");
  const pid_t parent = getpid(), child = forked();
  if (child == 0) {
    if (kept != nullptr) keep(launch, parent, told, *kept);
    join_parent(parent);
    become(launch, told.value());
  }
  told.close();
  int code = 0;
  ssize_t count = 0;
  while ((count = read(heard.value(), &code, sizeof code)) < 0 && errno == EINTR) {
  }
  if (count == 0) return child;  // exec closed the pipe
  reap(child);
  forget_child(child);
  refuse(command.words.front(), command.folder, code);
}

/// Sleeps until a child ends, prints or seals its answers, a signal was handled, or the time is over.
class Sleeper {
 public:
  explicit Sleeper(const std::vector<pid_t>& children, const Patience& heard = {}) {
    for (const Answers* const one : heard.answers)
      watched_.push_back({.fd = one->parent_end(), .events = POLLRDHUP, .revents = 0});
    sealed_ = watched_.size();
    for (const Printed* const one : heard.printed) {
      for (const auto& stream : one->streams())
        watched_.push_back({.fd = stream.read_end.value(), .events = POLLIN, .revents = 0});
    }
    heard_ = watched_.size();
    for (const pid_t child : children) {
      const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
      if (descriptor >= 0) watched_.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
    }
    all_ = watched_.size() == heard_ + children.size();
  }
  ~Sleeper() {
    for (std::size_t i = heard_; i < watched_.size(); ++i) close(watched_[i].fd);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  void sleep(milliseconds most) {
    constexpr milliseconds blind{10};  // on kernels that cannot watch processes
    poll(watched_.data(), watched_.size(), static_cast<int>((all_ ? most : std::min(most, blind)).count()));
    // A socket that was sealed stays so.
    for (std::size_t i = 0; i < sealed_; ++i) {
      if (watched_[i].revents != 0) watched_[i].fd = -1;
    }
    // The descriptor of an ended process stays readable.
    for (std::size_t i = watched_.size(); i-- > heard_;) {
      if (watched_[i].revents == 0) continue;
      close(watched_[i].fd);
      watched_.erase(watched_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

 private:
  std::vector<pollfd> watched_;  ///< first what is sealed, then what is heard, then the children
  std::size_t sealed_ = 0, heard_ = 0;
  bool all_ = false;
};

void kill_groups(const std::vector<pid_t>& children) {
  for (const pid_t child : children) kill(-child, SIGKILL);
  for (const pid_t child : children) reap(child);
}

/// Asks the children and what they started to end; kills what has not ended when the grace is over.
void end_groups(std::vector<pid_t> children, milliseconds grace) {
  for (const pid_t child : children) kill(-child, SIGTERM);
  std::vector<pid_t> groups = children;
  Sleeper sleeper(children);
  for (const auto end = Clock::now() + grace; !groups.empty() && Clock::now() < end;) {
    std::erase_if(children, [](pid_t child) { return end_of(child).has_value(); });
    std::erase_if(groups, [](pid_t group) { return kill(-group, 0) != 0; });
    if (!groups.empty()) sleeper.sleep(milliseconds(10));
  }
  for (const pid_t group : groups) kill(-group, SIGKILL);
  for (const pid_t child : children) reap(child);
}

constexpr std::array git_variables{
    "GIT_DIR",    "GIT_WORK_TREE",  "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE",  "GIT_ALTERNATE_OBJECT_DIRECTORIES"};

/// A command that runs, and where its output and what its keeper measures go.
struct Running {
  pid_t keeper;
  decltype(shared_spent()) spent = shared_spent();
};

Running started(const Command& command, ChildSetting setting, const OpenFile& output,
                const OpenFile& errors) {
  for (const char* name : git_variables) setting.environment.emplace_back(name, std::nullopt);
  Running out{.keeper = 0};
  out.keeper = start(command, setting, output.value(), errors.value(), out.spent.get());
  return out;
}

/// Returns the exit codes and the times that the keepers measured.
std::vector<Answer> waited_for(const std::vector<Running>& all, const Hooks& hooks) {
  std::vector<pid_t> keepers;
  for (const Running& one : all) keepers.push_back(one.keeper);
  // A keeper has a grace for the command.
  const ChildEnd end = wait_for_children(keepers, {.stopped = hooks.stop, .grace = 2 * Patience{}.grace});
  if (end.child == 0) throw Stopped{};
  std::vector<Answer> out;
  for (const auto& [keeper, spent] : all) {
    const int code = keeper != end.child ? 0 : end.signal == 0 ? end.exit_code : 128 + end.signal;
    out.push_back({*spent, code, {}, {}});
  }
  return out;
}

}  // namespace

std::optional<ChildEnd> end_of(pid_t child) {
  int status = 0;
  const pid_t found = waitpid(child, &status, WNOHANG);
  if (found < 0 && errno != EINTR) throw Error("a child process", reason(errno), "do not ignore SIGCHLD");
  if (found != child) return std::nullopt;
  if (WIFSIGNALED(status)) return ChildEnd{.child = child, .exit_code = -1, .signal = WTERMSIG(status)};
  return ChildEnd{.child = child, .exit_code = WEXITSTATUS(status)};
}

Printed::Printed() {
  for (Stream& stream : streams_) {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Error("a pipe", reason(errno), "raise the limit on open files");
    stream.read_end = Descriptor(ends[0]);
    stream.write_end = Descriptor(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
}

void Printed::take_over() const {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  if (nothing > STDERR_FILENO) close(nothing);
  dup2(streams_[0].write_end.value(), STDOUT_FILENO);
  dup2(streams_[1].write_end.value(), STDERR_FILENO);
}

void Printed::read() {
  constexpr std::size_t most = 65536;  // bytes that are kept of each stream
  std::array<char, most> part;
  for (Stream& stream : streams_) {
    // A pipe holds no more than that, unless somebody still prints: the caller has other things to look at.
    constexpr int pipes = 4;
    for (int i = 0; i < pipes; ++i) {
      const ssize_t count = ::read(stream.read_end.value(), part.data(), part.size());
      if (count <= 0) break;
      stream.text.append(part.data(), static_cast<std::size_t>(count));
      if (stream.text.size() > most) stream.text.erase(0, stream.text.size() - most);
    }
  }
}

void Printed::clear() {
  for (Stream& stream : streams_) stream.text.clear();
}

std::string Printed::in_words(std::string_view separator) const {
  constexpr std::size_t longest = 200;
  std::string out;
  for (const Stream& stream : streams_) {
    if (stream.text.empty()) continue;
    const bool cut = stream.text.size() > longest;
    out += out.empty() ? fmt::format("{}it printed: ", separator) : " and ";
    out += cut ? "... \"" : "\"";
    const std::string shown = stream.text.substr(cut ? stream.text.size() - longest : 0);
    for (const char one : spelled(shown, {{'\n', "\\n"}, {'"', "\\\""}, {'\\', "\\\\"}})) {
      const bool plain = one >= ' ' && one <= '~';
      out += plain ? std::string(1, one) : fmt::format("\\x{:02x}", static_cast<unsigned char>(one));
    }
    out += '"';
  }
  return out;
}

bool is_sent_by_kernel(int signal, const siginfo_t& about) {
  if (about.si_code > 0 || about.si_pid <= 0) return false;  // not by a process
  if (about.si_pid == getpid()) return true;
  const pid_t group = getpgid(about.si_pid);
  for (const std::atomic<pid_t>& child : known_children) {
    const pid_t one = child;
    if (one == 0 || (one != about.si_pid && one != group)) continue;
    signal_of_child = signal;
    signalling_child = one;
    return true;
  }
  return false;
}

std::vector<pid_t> children_of_process(const std::string& process) {
  std::vector<pid_t> out;
  std::error_code gone;
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child = 0; list >> child;) out.push_back(child);
  }
  return out;
}

Inheritance::Inheritance() : active_(!is_embedded()) {
  if (!active_) return;
  prctl(PR_GET_CHILD_SUBREAPER, &subreaper_before_);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  before_ = children_of_process();
}

Inheritance::~Inheritance() {
  if (!active_) return;
  // Whose parent is killed here comes to this process in turn.
  for (bool found = true; found;) {
    found = false;
    for (const pid_t child : children_of_process()) {
      if (std::ranges::find(before_, child) != before_.end()) continue;
      kill(child, SIGKILL);
      reap(child);
      found = true;
    }
  }
  prctl(PR_SET_CHILD_SUBREAPER, subreaper_before_);
}

pid_t start_child(const Command& command, const ChildSetting& setting) {
  if (setting.printed != nullptr) {
    const auto& [output, errors] = setting.printed->streams();
    return start(command, setting, output.write_end.value(), errors.write_end.value());
  }
  std::optional<OpenFile> output;
  if (!setting.output.empty()) output.emplace(setting.output, O_WRONLY | O_CREAT | O_APPEND);
  const int said = output ? output->value() : -1;
  return start(command, setting, said, said);
}

pid_t fork_child(const std::function<int()>& work) {
  const pid_t parent = getpid(), child = forked();
  if (child > 0) return child;
  join_parent(parent);
  const int code = work();
  std::fflush(nullptr);
  _exit(code);
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
  if (overdue) return "did not end in time";
  if (signal_to_parent != 0)
    return fmt::format("sent signal {} ({}) to the process that started it", signal_to_parent,
                       strsignal(signal_to_parent));
  const char* const word = signal == SIGKILL ? "Killed, as where memory ends" : strsignal(signal);
  if (signal != 0) return fmt::format("was ended by signal {} ({})", signal, word);
  if (exit_code == cannot_start) return "could not be started";
  return fmt::format("ended with exit code {}", exit_code);
}

ChildEnd wait_for_children(std::vector<pid_t> children, const Patience& patience) {
  ChildEnd last;
  Sleeper sleeper(children, patience);
  const auto listen = [&patience] {
    for (Printed* const printed : patience.printed) printed->read();
    for (Answers* const answers : patience.answers) answers->read();
  };
  const struct Awaited {
    std::vector<pid_t> all;
    ~Awaited() { std::ranges::for_each(all, forget_child); }
  } awaited{children};
  while (!children.empty()) {
    // What is held up is looked at before the output is read, which may be of the next step.
    const bool overdue = patience.overdue && patience.overdue();
    listen();
    if (const pid_t sender = signalling_child.exchange(0);
        std::ranges::find(children, sender) != children.end()) {
      kill_groups(children);
      return {.child = sender, .exit_code = -1, .signal = SIGKILL, .signal_to_parent = signal_of_child};
    }
    for (std::size_t i = 0; i < children.size();) {
      const auto end = end_of(children[i]);
      if (!end) {
        ++i;
        continue;
      }
      kill(-children[i], SIGKILL);  // what it left behind
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
      last = *end;
      listen();
      if (last.passed()) continue;
      kill_groups(children);
      return last;
    }
    if (children.empty()) break;
    if (patience.stopped && patience.stopped()) {
      end_groups(std::move(children), patience.grace);
      return {.exit_code = -1, .signal = SIGINT};
    }
    if (overdue) {
      kill_groups(children);
      return {.exit_code = -1, .signal = SIGKILL, .overdue = true};
    }
    sleeper.sleep(longest_sleep);
  }
  return last;
}

int run_child(const Command& command, const fs::path& log, const Hooks& hooks) {
  const OpenFile said(log, O_WRONLY | O_CREAT | O_APPEND);
  if (hooks.stopped()) throw Stopped{};
  std::vector<Running> one;
  one.push_back(started(command, {}, said, said));
  return waited_for(one, hooks).front().exit_code;
}

Answer ask_child(const Command& command, const Hooks& hooks) {
  return ask_children({command}, {}, hooks).front();
}

std::vector<Answer> ask_children(const std::vector<Command>& commands, const ChildSetting& setting,
                                 const Hooks& hooks) {
  if (hooks.stopped()) throw Stopped{};
  const std::vector<OpenFile> outputs(commands.size()), errors(commands.size());
  std::vector<Running> running;
  for (std::size_t i = 0; i < commands.size(); ++i)
    running.push_back(started(commands[i], setting, outputs[i], errors[i]));
  std::vector<Answer> out = waited_for(running, hooks);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].output = outputs[i].content();
    out[i].errors = errors[i].content();
  }
  return out;
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

std::vector<std::string> fields_of_stat(const std::string& file) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text, '\0');  // all of it, and nothing where the process ends meanwhile
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::vector<std::string> out{"", text.substr(0, text.find(' ')), ""};
  std::istringstream fields(text.substr(name_end + 1));
  for (std::string field; fields >> field;) out.push_back(std::move(field));
  return out;
}

}  // namespace assay
