#include "core/check/contained.hpp"

#include "assay/error.hpp"
#include "core/files/process_stat.hpp"

#include <fmt/format.h>

#include <cxxabi.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <vector>

namespace assay {
namespace {

constexpr int gave_up = 70;
bool is_for_kernels = false;
constexpr double nanoseconds = 1e9;

std::int64_t monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Seconds for which all threads of a process had a processor.
double cpu_seconds_of(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / nanoseconds;
}

/// Seconds after which a kernel with this limit is overdue however little it did.
double longest_wait(double limit) {
  constexpr double times = 10, more = 60;
  return std::max(times * limit, limit + more);
}

/// Whether a thread of a process runs, or would with a processor or when the disk has answered.
bool has_work(pid_t process) {
  std::error_code gone;
  const std::filesystem::path threads(fmt::format("/proc/{}/task", process));
  constexpr std::size_t state = 3;
  for (std::filesystem::directory_iterator at(threads, gone), end; !gone && at != end; at.increment(gone)) {
    const std::vector<std::string> fields = fields_of_stat((at->path() / "stat").string());
    if (fields.size() > state && (fields[state] == "R" || fields[state] == "D")) return true;
  }
  return false;
}

/// Files that kernels may not close.
struct Guarded {
  int descriptor;
  dev_t device;
  ino_t inode;
};
std::vector<Guarded>& guarded() {
  static std::vector<Guarded> out;
  return out;
}

bool is_as_before(const Guarded& one) {
  struct stat now {};
  return fstat(one.descriptor, &now) == 0 && now.st_dev == one.device && now.st_ino == one.inode;
}

/// Waits until the parent has read what the kernel printed, and so knows whose it is.
void hand_over_prints() {
  std::fflush(stdout);
  constexpr int most = 500;
  constexpr std::chrono::microseconds pause{200};
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat about {};
    int unread = 0;
    if (fstat(stream, &about) != 0 || !S_ISFIFO(about.st_mode)) continue;
    for (int i = 0; i < most && ioctl(stream, FIONREAD, &unread) == 0 && unread > 0; ++i)
      std::this_thread::sleep_for(pause);
  }
}

[[noreturn]] void refuse_memory() {
  throw Error("shared memory", std::strerror(errno), "free memory, or raise the limit on open files");
}

/// "std::runtime_error: no such tile", of the exception that is being handled.
std::string name_of_exception() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an exception";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), std::free);
  return name ? name.get() : type->name();
}

std::string current_exception_text() {
  const std::string name = name_of_exception();
  try {
    throw;
  } catch (const std::exception& failure) {
    return fmt::format("{}: {}", name, failure.what());
  } catch (...) {
    return name;
  }
}

/// Results of a child, written as it goes: they are there when it ends, however that happens.
class Findings {
 public:
  enum class Kind : std::uint32_t { found, accused, error, fault, done };

  Findings() : file_(memfd_create("findings", MFD_CLOEXEC)) {
    if (file_ < 0) refuse_memory();
  }
  ~Findings() { close(file_); }
  int descriptor() const { return file_; }
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  void add(Kind kind, std::size_t step, const std::string& text) {
    const Head head{kind, step, text.size()};
    std::string bytes(sizeof head, '\0');
    std::memcpy(bytes.data(), &head, sizeof head);
    bytes += text;
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t count = write(file_, bytes.data() + at, bytes.size() - at);
      if (count < 0 && errno != EINTR) refuse_memory();
      at += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
  }

  /// Calls `take(kind, step, text)` for each that is whole.
  template <class Take>
  void each(const Take& take) const {
    struct stat status {};
    fstat(file_, &status);
    const auto size = static_cast<std::size_t>(status.st_size);
    Head head{};
    for (std::size_t at = 0; at + sizeof head <= size;) {
      if (pread(file_, &head, sizeof head, static_cast<off_t>(at)) != sizeof head) return;
      at += sizeof head;
      if (head.bytes > size - at) return;
      std::string text(head.bytes, '\0');
      if (pread(file_, text.data(), text.size(), static_cast<off_t>(at)) != static_cast<ssize_t>(text.size()))
        return;
      at += text.size();
      take(head.kind, head.step, text);
    }
  }

 private:
  struct Head {
    Kind kind;
    std::size_t step, bytes;
  };
  int file_;
};

/// Steps from `first` to before `end`.
struct Range {
  std::size_t first, end;
  bool lingers = false;  ///< stays a while afterwards, for what kernels may have left to happen
};

int work_in_child(const ContainedSteps& steps, const Range& range, StepRecord& record, Findings& findings,
                  const Printed& printed) {
  printed.take_over();
  leave_crashes_to_parent();
  // A stop ends this process, which has handed over all that it found. So does a kernel that sends itself
  // one.
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  guard_descriptor(findings.descriptor());
  look_like_all_others();
  const StepReporter reporter(&record);
  try {
    for (std::size_t step = range.first; step < range.end; ++step) {
      const std::string found = steps.work(step, reporter);
      if (found.empty()) continue;
      if (step != range.first && steps.accuses && steps.accuses(step, found)) {
        findings.add(Findings::Kind::accused, step, "");
        return 0;
      }
      findings.add(Findings::Kind::found, step, found);
      steps.take(step, found);
    }
    constexpr std::chrono::milliseconds long_enough{100};
    if (range.lingers) std::this_thread::sleep_for(long_enough);
    findings.add(Findings::Kind::done, 0, "");
  } catch (const Error& failure) {
    findings.add(Findings::Kind::error, 0, failure.what());
  } catch (...) {
    findings.add(Findings::Kind::fault, 0, current_exception_text());
  }
  return 0;
}

/// An Error of the child, with where, what and remedy in one text.
class ErrorOfChild : public Error {
 public:
  explicit ErrorOfChild(const std::string& text)
      : Error(text.substr(0, text.find(": ")), rest_of(text), "") {}

 private:
  static std::string rest_of(const std::string& text) {
    const std::size_t colon = text.find(": ");
    return colon == std::string::npos ? "" : text.substr(colon + 2);
  }
};

/// How a child that was to do some steps came to its end.
struct RangeEnd {
  std::size_t next = 0;                ///< the first step that was not answered for
  std::optional<FailedStep> failed;    ///< where a kernel ended it
  std::optional<std::size_t> accused;  ///< which is to be done alone, as is what follows
  bool at_fault = false;               ///< something was held against a step
  std::string unexplained;             ///< where it ended while none ran
  bool kernels_ran = false;
};

RangeEnd do_in_child(const ContainedSteps& steps, const Range& range, const Hooks& hooks) {
  const Inheritance inheritance;
  SharedRecord record;
  Findings findings;
  Printed printed;
  StepWatch watch(*record, &printed, steps.printed);
  const pid_t child = fork_child([&] { return work_in_child(steps, range, *record, findings, printed); });
  watch.follow(child);
  const ChildEnd end = wait_for_children({child}, {.stopped = hooks.stop,
                                                   .overdue =
                                                       [&] {
                                                         const std::uint64_t step =
                                                             (*record).step.load(std::memory_order_acquire);
                                                         if (steps.say && step != 0 && step <= steps.count)
                                                           steps.say(step - 1);
                                                         return watch.is_overdue();
                                                       },
                                                   .printed = {&printed}});
  RangeEnd out{.next = range.first,
               .failed = std::nullopt,
               .unexplained = {},
               .kernels_ran = (*record).since.load(std::memory_order_relaxed) != 0};
  bool done = false;
  findings.each([&](Findings::Kind kind, std::size_t step, const std::string& text) {
    if (kind == Findings::Kind::error) throw ErrorOfChild(text);
    if (kind == Findings::Kind::fault) throw std::runtime_error(text);
    done = done || kind == Findings::Kind::done;
    if (kind == Findings::Kind::accused) out.accused = step;
    if (kind != Findings::Kind::found) return;
    out.at_fault = out.at_fault || (steps.accuses && steps.accuses(step, text));
    steps.take(step, text);
    out.next = step + 1;
  });
  if (done) watch.note_printed();
  if (out.accused) return out;
  if (done || (end.child == 0 && !end.overdue)) {  // or stopped
    out.next = range.end;
  } else {
    out.failed = watch.failed_step(end);
    if (!out.failed)
      out.unexplained = (end.passed() ? "left without its answers" : end.text()) + printed.in_words("; ");
  }
  return out;
}

/// Does a step in a child that does no other. Returns whether it came to an end there and nothing is held
/// against it; else it has failed, or that was taken.
bool passes_alone(const ContainedSteps& steps, std::size_t step, const Hooks& hooks) {
  const RangeEnd end = do_in_child(steps, {.first = step, .end = step + 1, .lingers = true}, hooks);
  if (end.failed) {
    steps.fail(*end.failed);
  } else if (!end.unexplained.empty() && end.kernels_ran) {
    steps.fail({step, {.reason = "returned, but then its process " + end.unexplained}});
  } else {
    return !end.at_fault;
  }
  return false;
}

/// What a kernel does now and then shows in one of so many tries.
bool passes_alone_again_and_again(const ContainedSteps& steps, std::size_t step, const Hooks& hooks) {
  constexpr int tries = 3;
  for (int i = 0; i < tries && !hooks.stopped(); ++i) {
    if (!passes_alone(steps, step, hooks)) return false;
  }
  return true;
}

/// Finds the step before `end` that, alone, ends a process after its own calls, or has something held against
/// it. Returns whether there is one.
bool somebody_fails_alone(const ContainedSteps& steps, const Range& range, const Hooks& hooks) {
  // Whoever left something behind did so shortly before, as a rule.
  constexpr std::size_t most = 64;
  bool found = false;
  for (std::size_t step = range.end; step > range.first && range.end - step < most && !found;) {
    found = !passes_alone(steps, --step, hooks) && !hooks.stopped();
  }
  return found;
}

/// Returns the step to go on with.
std::size_t do_some(const ContainedSteps& steps, std::size_t first, const Hooks& hooks) {
  const RangeEnd end = do_in_child(steps, {first, steps.count}, hooks);
  if (end.failed && (end.failed->failure.kind == Failure::Kind::timed_out || end.failed->step == first)) {
    steps.fail(*end.failed);
    return end.failed->step + 1;
  }
  if (end.failed || end.accused) {
    // Not by its own fault, perhaps: a thread, a timer or a process of somebody before can strike at any
    // time. Only who does it alone is named.
    const std::size_t step = end.failed ? end.failed->step : *end.accused;
    if (passes_alone_again_and_again(steps, step, hooks) && !hooks.stopped())
      somebody_fails_alone(steps, {first, step}, hooks);
    return step + 1;
  }
  if (!end.unexplained.empty()) {
    const std::size_t reached = std::min(end.next + 1, steps.count);
    if (!somebody_fails_alone(steps, {first, reached}, hooks)) {
      throw std::runtime_error(
          fmt::format("a process that checks {} outside of any kernel", end.unexplained));
    }
    return reached;
  }
  return end.next;
}

}  // namespace

std::string_view to_string(Failure::Kind kind) {
  return kind == Failure::Kind::crashed ? "crashed" : "timed out";
}

SharedRecord::SharedRecord() : descriptor_(memfd_create("steps", 0)) {
  if (descriptor_ < 0 || ftruncate(descriptor_, sizeof(StepRecord)) != 0) refuse_memory();
  map();
}

SharedRecord::SharedRecord(int descriptor) : descriptor_(descriptor) { map(); }

void SharedRecord::map() {
  void* found = mmap(nullptr, sizeof(StepRecord), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (found == MAP_FAILED) refuse_memory();
  record_ = static_cast<StepRecord*>(found);
}

SharedRecord::~SharedRecord() {
  munmap(record_, sizeof(StepRecord));
  close(descriptor_);
}

void StepReporter::begin(std::size_t step, double limit_seconds) const {
  record_->since.store(monotonic_now(), std::memory_order_relaxed);
  record_->limit.store(static_cast<std::int64_t>(std::min(limit_seconds, 1e9) * nanoseconds),
                       std::memory_order_relaxed);
  record_->step.store(step + 1, std::memory_order_release);
}

void StepReporter::end() const {
  if (!std::ranges::all_of(guarded(), is_as_before)) give_up("closed descriptors that it did not open");
  hand_over_prints();
  record_->step.store(0, std::memory_order_release);
}

void StepReporter::give_up() const { give_up("threw " + current_exception_text()); }

void StepReporter::give_up(const std::string& text) const {
  const std::size_t length = std::min(text.size(), sizeof record_->thrown - 1);
  std::memcpy(record_->thrown, text.data(), length);
  record_->thrown[length] = '\0';
  std::fflush(stdout);
  _exit(gave_up);
}

bool StepWatch::is_overdue() {
  const std::uint64_t step = record_.step.load(std::memory_order_acquire);
  if (step == 0) return false;
  const std::int64_t since = record_.since.load(std::memory_order_relaxed),
                     limit = record_.limit.load(std::memory_order_relaxed);
  if (step != step_ || since != since_) {
    note_printed();
    step_ = step;
    since_ = since;
    cpu_at_start_ = cpu_seconds_of(child_);
    idle_since_ = 0;
  }
  const std::int64_t passed = monotonic_now() - since;
  if (passed <= limit) return false;
  cpu_ = cpu_seconds_of(child_) - cpu_at_start_;
  const double seconds = static_cast<double>(limit) / nanoseconds;
  too_long_ = static_cast<double>(passed) / nanoseconds > longest_wait(seconds);
  return too_long_ || cpu_ > seconds || sleeps_on();
}

bool StepWatch::sleeps_on() {
  constexpr double enough = 1, share = 0.01;  // threads that sleep wake up now and then
  const std::int64_t now = monotonic_now();
  const double passed = static_cast<double>(now - idle_since_) / nanoseconds;
  if (has_work(child_)) {
    idle_since_ = 0;
  } else if (idle_since_ == 0 || cpu_ - idle_cpu_ > share * std::max(enough, passed)) {
    idle_since_ = now;
    idle_cpu_ = cpu_;
  } else {
    return passed > enough;
  }
  return false;
}

void StepWatch::note_printed() {
  if (printed_ == nullptr) return;
  const std::string words = printed_->in_words();
  if (note_ && step_ != 0 && !words.empty()) note_(static_cast<std::size_t>(step_ - 1), words);
  printed_->clear();
}

std::optional<FailedStep> StepWatch::failed_step(const ChildEnd& end) const {
  const std::uint64_t step = record_.step.load(std::memory_order_acquire);
  if (step == 0) return std::nullopt;
  FailedStep out{.step = static_cast<std::size_t>(step - 1)};
  if (end.overdue) {
    const double seconds = static_cast<double>(record_.limit.load(std::memory_order_relaxed)) / nanoseconds;
    out.failure = {Failure::Kind::timed_out,
                   fmt::format("did not end within {:.3g} s, of which it had a processor for {:.2g} s",
                               too_long_ ? longest_wait(seconds) : seconds, cpu_)};
  } else if (record_.thrown[0] != '\0') {
    out.failure.reason = record_.thrown;
  } else if (end.signal_to_parent != 0) {
    out.failure.reason = end.text();
  } else if (end.signal == SIGSYS) {
    // The handler that names the call cannot run where signals are blocked, as newer C libraries do in
    // fork().
    out.failure.reason = "made a system call while it was timed, which --strict forbids";
  } else if (end.signal != 0) {
    out.failure.reason = end.text();
  } else {
    out.failure.reason = fmt::format("called exit({})", end.exit_code);
  }
  if (printed_ != nullptr) out.failure.reason += printed_->in_words("; ");
  return out;
}

void leave_crashes_to_parent() {
  is_for_kernels = true;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, SIG_DFL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  guarded().clear();
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) guard_descriptor(stream);
}

void guard_descriptor(int descriptor) {
  struct stat about {};
  if (fstat(descriptor, &about) == 0) guarded().push_back({descriptor, about.st_dev, about.st_ino});
}

bool runs_kernels() { return is_for_kernels; }

Variables pools_that_rest() {
  return {{"GOMP_SPINCOUNT", "3000"}, {"KMP_BLOCKTIME", "1"}, {"OPENBLAS_THREAD_TIMEOUT", "17"}};
}

void look_like_all_others() {
  // OpenBLAS's worker spins for 2^26 cycles after a call by default, on the core that the next trial's second
  // thread needs. 2^18 cycles still cover back-to-back calls. It is read when a program starts.
  setenv("OPENBLAS_THREAD_TIMEOUT", "18", 0);
  constexpr std::size_t start_of_arguments = 48, end_of_arguments = 49;
  const std::vector<std::string> fields = fields_of_stat("/proc/self/stat");
  if (fields.size() <= end_of_arguments) return;
  const std::uintptr_t begin = std::strtoull(fields[start_of_arguments].c_str(), nullptr, 10),
                       end = std::strtoull(fields[end_of_arguments].c_str(), nullptr, 10);
  if (begin == 0 || end <= begin) return;
  constexpr std::string_view words("assay\0launch", 13);
  auto* const arguments = reinterpret_cast<char*>(begin);
  std::memset(arguments, 0, end - begin);
  std::memcpy(arguments, words.data(), std::min(words.size(), end - begin));
}

double step_limit(double asked, std::optional<double> naive_seconds, const Cost& cost) {
  if (asked > 0) return asked;
  constexpr double times = 20, least = 10, least_of_naive = 60, slow = 1e8;
  if (naive_seconds) return std::max(least, times * *naive_seconds);
  return std::max(least_of_naive, times * (cost.flops + cost.bytes_read + cost.bytes_written) / slow);
}

void do_steps(const ContainedSteps& steps, const Containment& containment, const Hooks& hooks) {
  std::size_t next = 0;
  while (next < steps.count && !hooks.stopped()) {
    if (containment.own_process) {
      next = do_some(steps, next, hooks);
      continue;
    }
    if (steps.say) steps.say(next);
    const std::string found = steps.work(next, StepReporter{});
    if (!found.empty()) steps.take(next, found);
    ++next;
  }
}

}  // namespace assay
