#include "core/check/surroundings.hpp"

#include "assay/random.hpp"
#include "core/files/child_process.hpp"
#include "core/machine/clock.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace assay {
namespace {

#ifdef __x86_64__
/// Code without vzeroupper leaves them so, and SSE instructions after it are slow on some processors.
bool upper_halves_in_use() {
  static const bool told = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned avx_and_osxsave = 3U << 27, xgetbv_with_one = 1U << 2;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & avx_and_osxsave) != avx_and_osxsave) return false;
    return __get_cpuid_count(0xd, 1, &a, &b, &c, &d) != 0 && (a & xgetbv_with_one) != 0;
  }();
  if (!told) return false;
  constexpr unsigned upper = 1U << 2;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return (low & upper) != 0;
}
#endif

/// Other threads of this process, as one of them sees them. Their files stay open: to look each of them up
/// costs several times as much as to read it.
class OtherThreads {
 public:
  /// Whether none runs or could. The processor time that they use does not say so: on a busy machine one that
  /// looks for work has to wait for a processor itself.
  bool sleep() {
    constexpr nlink_t of_one_thread = 3;
    struct stat about {};
    if (stat(folder, &about) == 0 && about.st_nlink == of_one_thread) return true;
    const bool known = seen_by_ == gettid() && seen_ == about.st_nlink;
    if (known && all_there()) return asleep_;
    look_up();
    seen_ = about.st_nlink;
    all_there();
    if (files_.size() > most_open) forget();
    return asleep_;
  }

  std::size_t open_files() const { return files_.size(); }

 private:
  static constexpr const char* folder = "/proc/self/task";

  /// Processes may have few files open.
  static constexpr std::size_t most_open = 128;

  /// Sees which of them sleep. Returns whether none has ended since they were looked up.
  bool all_there() {
    asleep_ = true;
    bool all = true;
    for (const int file : files_) {
      std::array<char, 128> text{};
      const ssize_t size = pread(file, text.data(), text.size() - 1, 0);
      all = all && size > 0;
      const std::string_view line(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
      const std::size_t name_end = line.rfind(") ");  // names may hold anything
      asleep_ = asleep_ && (name_end == std::string_view::npos || line[name_end + 2] != 'R');
    }
    return all;
  }
  void forget() {
    for (const int file : files_) close(file);
    files_.clear();
    seen_by_ = 0;
  }
  void look_up() {
    forget();
    seen_by_ = gettid();
    DIR* const tasks = opendir(folder);
    if (tasks == nullptr) return;
    const std::string own = std::to_string(seen_by_);
    while (const dirent* const task = readdir(tasks)) {
      if (task->d_name[0] == '.' || own == task->d_name) continue;
      const int file =
          openat(dirfd(tasks), (std::string(task->d_name) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
      if (file >= 0) files_.push_back(file);
    }
    closedir(tasks);
  }

  std::vector<int> files_;
  pid_t seen_by_ = 0;
  nlink_t seen_ = 0;
  bool asleep_ = true;
};

OtherThreads other_threads;

bool has_timer() {
  for (const auto which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval timer{};
    getitimer(which, &timer);
    if (timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0) return true;
  }
  return false;
}

/// The numbers of this process's timers of POSIX, which the system tells nowhere else.
std::vector<int> posix_timers() {
  std::vector<int> out;
  std::ifstream list("/proc/self/timers");
  for (std::string line; std::getline(list, line);) {
    constexpr std::string_view start = "ID: ";
    if (line.starts_with(start)) out.push_back(std::atoi(line.c_str() + start.size()));
  }
  return out;
}

/// A limit by its number, as getrlimit() takes it.
auto limit_number(std::size_t number) { return static_cast<decltype(RLIMIT_CPU)>(number); }

constexpr std::array<std::pair<std::size_t, std::string_view>, 6> named_limits{
    {{RLIMIT_CPU, "processor time"},
     {RLIMIT_FSIZE, "file sizes"},
     {RLIMIT_STACK, "the stack"},
     {RLIMIT_NOFILE, "open files"},
     {RLIMIT_AS, "memory"},
     {RLIMIT_NPROC, "processes"}}};

constexpr std::size_t first_real_time_signal = 32, signal_of_freeze = 31, end_of_signals = 65;

int open_statm() { return open("/proc/self/statm", O_RDONLY | O_CLOEXEC); }

bool same_handler(const struct sigaction& a, const struct sigaction& b) {
  constexpr int set_by_library = 0x04000000;  // SA_RESTORER, which it adds to whatever is set
  return ((a.sa_flags ^ b.sa_flags) & ~set_by_library) == 0 &&
         ((a.sa_flags & SA_SIGINFO) != 0 ? a.sa_sigaction == b.sa_sigaction : a.sa_handler == b.sa_handler);
}

}  // namespace

FloatEnvironment FloatEnvironment::now() {
  FloatEnvironment out;
#ifdef __x86_64__
  constexpr std::uint32_t flags = 0x3f;  // exceptions that happened: every kernel leaves some
  out.vector_ = _mm_getcsr() & ~flags;
  asm volatile("fnstcw %0" : "=m"(out.x87_));
  out.upper_halves_ = upper_halves_in_use();
#elif defined(__aarch64__)
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  out.vector_ = static_cast<std::uint32_t>(control);
#endif
  return out;
}

std::string FloatEnvironment::change() const {
  const FloatEnvironment present = now();
  if (present.upper_halves_ && !upper_halves_) return "upper halves of vector registers in use";
  if (present.vector_ == vector_ && present.x87_ == x87_) return {};
#ifdef __x86_64__
  constexpr std::array<std::pair<std::uint32_t, std::string_view>, 3> bits{
      {{0x8000, "flush-to-zero"}, {0x0040, "denormals-are-zero"}, {0x6000, "another rounding mode"}}};
  for (const auto& [bit, name] : bits) {
    if (((present.vector_ ^ vector_) & bit) == 0) continue;
    return fmt::format("{} {}", name, (present.vector_ & bit) != 0 ? "on" : "off");
  }
#endif
  return "control words that differ from before";
}

void FloatEnvironment::restore() const {
#ifdef __x86_64__
  _mm_setcsr(vector_);
  asm volatile("fldcw %0" ::"m"(x87_));
  if (!upper_halves_ && upper_halves_in_use()) asm volatile("vzeroupper");
#elif defined(__aarch64__)
  const std::uint64_t control = vector_;
  asm volatile("msr fpcr, %0" ::"r"(control));
#endif
}

Surroundings Surroundings::now() {
  constexpr double patience = 0.05;
  static_cast<void>(seconds_of_a_look());  // before a kernel can have changed the clock
  Surroundings out = seen(Depth::thorough, signals_at(Depth::thorough));
  out.floats_ = FloatEnvironment::now();
  out.processors_ = ProcessorSet::of_thread();
  out.others_slept_ = others_sleep(patience);
  return out;
}

Surroundings::Signals Surroundings::signals_at(Depth depth) {
  constexpr std::size_t fourth = 4;
  if (depth == Depth::glance) return {1 + secret() % fourth, fourth, first_real_time_signal};
  return {1, 1, depth == Depth::quick ? first_real_time_signal : end_of_signals};
}

Surroundings Surroundings::seen(Depth depth, const Signals& signals) {
  Surroundings out;
  out.policy_ = sched_getscheduler(0);
  out.priority_ = getpriority(PRIO_PROCESS, 0);
  for (std::size_t signal = signals.first; signal < signals.end; signal += signals.step) {
    if (signal != signal_of_freeze) sigaction(static_cast<int>(signal), nullptr, &out.handlers_[signal]);
  }
  sigprocmask(SIG_SETMASK, nullptr, &out.blocked_);
  out.timer_ = has_timer();
  siginfo_t found{};
  out.children_ = waitid(P_ALL, 0, &found, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (depth != Depth::thorough) return out;
  out.posix_timers_ = posix_timers();
  std::array<char, 4096> folder{};
  if (getcwd(folder.data(), folder.size()) != nullptr) out.folder_ = folder.data();
  constexpr mode_t private_files = 077;  // for whoever makes a file right now
  out.new_files_ = umask(private_files);
  umask(out.new_files_);
  for (std::size_t limit = 0; limit < out.limits_.size(); ++limit)
    getrlimit(limit_number(limit), &out.limits_[limit]);
  return out;
}

std::string Surroundings::change(Depth depth) const {
  if (const std::string change = floats_.change(); !change.empty()) {
    return "left the floating-point environment with " + change;
  }
  const Signals signals = signals_at(depth);
  const Surroundings present = seen(depth, signals);
  if (present.policy_ != policy_ || present.priority_ != priority_) return "changed its priority";
  for (std::size_t signal = signals.first; signal < signals.end; signal += signals.step) {
    const int number = static_cast<int>(signal);
    if (!same_handler(present.handlers_[signal], handlers_[signal]))
      return fmt::format("changed the handler of signal {} ({})", signal, strsignal(number));
    if (sigismember(&present.blocked_, number) != sigismember(&blocked_, number))
      return fmt::format("left signal {} ({}) {}", signal, strsignal(number),
                         sigismember(&blocked_, number) == 1 ? "unblocked" : "blocked");
  }
  if (present.timer_ && !timer_) return "started a timer";
  if (present.children_ && !children_) return "started a process";
  if (depth != Depth::thorough) return {};
  if (present.posix_timers_ != posix_timers_) return "started a timer";
  if (present.folder_ != folder_) return "changed the folder that the process is in";
  if (present.new_files_ != new_files_) return "changed the permissions of new files (umask)";
  for (std::size_t limit = 0; limit < limits_.size(); ++limit) {
    if (present.limits_[limit].rlim_cur == limits_[limit].rlim_cur &&
        present.limits_[limit].rlim_max == limits_[limit].rlim_max)
      continue;
    const auto named = std::ranges::find(named_limits, limit, [](const auto& one) { return one.first; });
    return fmt::format("changed a limit of the process{}{}", named == named_limits.end() ? "" : ", on ",
                       named == named_limits.end() ? "" : named->second);
  }
  return {};
}

void Surroundings::restore() const {
  floats_.restore();
  if (!timer_) {  // first: without its handler, an alarm ends the process
    constexpr itimerval none{};
    for (const auto which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) setitimer(which, &none, nullptr);
  }
  for (const int timer : posix_timers()) {
    if (std::ranges::find(posix_timers_, timer) == posix_timers_.end()) syscall(SYS_timer_delete, timer);
  }
  static_cast<void>(chdir(folder_.c_str()) == 0);
  umask(new_files_);
  for (std::size_t limit = 0; limit < limits_.size(); ++limit)
    setrlimit(limit_number(limit), &limits_[limit]);
  sched_param parameters{};
  sched_setscheduler(0, policy_, &parameters);
  setpriority(PRIO_PROCESS, 0, priority_);
  const Surroundings present = seen(Depth::thorough, signals_at(Depth::thorough));
  for (std::size_t signal = 1; signal < handlers_.size(); ++signal) {
    if (same_handler(present.handlers_[signal], handlers_[signal])) continue;
    sigaction(static_cast<int>(signal), &handlers_[signal], nullptr);
  }
  sigprocmask(SIG_SETMASK, &blocked_, nullptr);
  if (!present.children_ || children_) return;
  for (const pid_t child : children_of_process()) {  // a kernel's
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

std::size_t mapped_pages() {
  static int statm = open_statm();
  static pid_t owner = getpid();
  if (owner != getpid()) {  // a descriptor of the parent tells of the parent
    close(statm);
    statm = open_statm();
    owner = getpid();
  }
  std::array<char, 64> text{};
  if (statm < 0 || pread(statm, text.data(), text.size() - 1, 0) <= 0) return 0;
  return std::strtoul(text.data(), nullptr, 10);
}

std::size_t heap_bytes() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 found = mallinfo2();
  return found.uordblks + found.hblkhd;
#else
  return 0;
#endif
}

std::size_t open_descriptors() {
  constexpr const char* folder = "/proc/self/fd";
  std::size_t out = 0;
  struct stat about {};
  if (stat(folder, &about) == 0 && about.st_size > 0) {  // Linux 6.2 tells the number
    out = static_cast<std::size_t>(about.st_size);
  } else if (DIR* const list = opendir(folder)) {
    while (readdir(list) != nullptr) ++out;
    closedir(list);
  }
  return out - std::min(out, other_threads.open_files());
}

bool may_be_accelerator(unsigned driver) {
  // Documentation/admin-guide/devices.txt of Linux: memory, virtual consoles, terminals, "misc" (FUSE, KVM,
  // clocks), and pseudo-terminals. Anybody may open some of these.
  constexpr unsigned memory = 1, consoles = 4, terminals = 5, misc = 10, first_pseudo = 136,
                     last_pseudo = 143;
  return driver != memory && driver != consoles && driver != terminals && driver != misc &&
         (driver < first_pseudo || driver > last_pseudo);
}

bool holds_accelerator() {
  bool out = false;
  DIR* const list = opendir("/proc/self/fd");
  while (const dirent* one = list != nullptr ? readdir(list) : nullptr) {
    struct stat about {};
    const int descriptor = std::atoi(one->d_name);
    if (one->d_name[0] == '.' || fstat(descriptor, &about) != 0) continue;
    out = out || (S_ISCHR(about.st_mode) && may_be_accelerator(major(about.st_rdev)));
  }
  if (list != nullptr) closedir(list);
  return out;
}

long page_faults_of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return used.ru_minflt + used.ru_majflt;
}

double cpu_seconds_of_thread() { return system_seconds(CLOCK_THREAD_CPUTIME_ID); }

double seconds_without_processor() {
  constexpr double nanosecond = 1e-9;
  std::ifstream file("/proc/thread-self/schedstat");
  double ran = 0, waited = 0;
  file >> ran >> waited;
  return nanosecond * waited;
}

double cpu_seconds_of_others(CpuBound bound) {
  const double before = cpu_seconds_of_thread(), all = system_seconds(CLOCK_PROCESS_CPUTIME_ID);
  return all - (bound == CpuBound::most ? before : cpu_seconds_of_thread());
}

bool others_sleep(double longest) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(longest);
  while (!other_threads.sleep()) {
    if (Clock::now() > end) return false;
    sched_yield();  // one that is about to sleep may need this processor for it
  }
  return true;
}

}  // namespace assay
