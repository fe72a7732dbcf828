#include "core/check/contained.hpp"

#include "core/code/calls.hpp"
#include "core/code/differing_functions.hpp"
#include "core/files/this_program.hpp"
#include "core/machine/clock.hpp"
#include "core/text/parts.hpp"

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
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <vector>

// Of the compiler's run-times, where they are linked.
extern "C" {
__attribute__((weak)) void __gcov_dump();
__attribute__((weak)) int __llvm_profile_write_file();
__attribute__((weak)) void __lsan_do_leak_check();
}

namespace assay {
namespace {

constexpr int gave_up = 70;
bool is_for_kernels = false;
constexpr double nanoseconds = 1e9;

std::int64_t monotonic_now() {
  return static_cast<std::int64_t>(system_seconds(CLOCK_MONOTONIC) * nanoseconds);
}

/// Seconds for which all threads of a process had a processor.
double cpu_seconds_of(pid_t process) {
  clockid_t clock{};
  return clock_getcpuclockid(process, &clock) == 0 ? system_seconds(clock) : 0;
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
std::vector<Guarded> guarded;

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
std::string current_exception_text() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  const std::string name = type == nullptr ? "an exception" : demangled(type->name());
  try {
    throw;
  } catch (const std::exception& failure) {
    return fmt::format("{}: {}", name, failure.what());
  } catch (...) {
    return name;
  }
}

/// What a child says of a step, or of itself.
struct Finding {
  enum class Kind : char { found = 'f', accused = 'a', error = 'e', fault = 'x' };
  Kind kind;
  std::size_t step = 0;
  std::string text;
};

std::string bytes_of(const Finding& finding) {
  return fmt::format("{}{} {}", static_cast<char>(finding.kind), finding.step, finding.text);
}

/// Returns nothing for bytes that are no finding.
std::optional<Finding> finding_from(const std::string& bytes) {
  const std::size_t gap = bytes.find(' ');
  if (gap == std::string::npos || gap == 0) return std::nullopt;
  const auto step = number_from<std::size_t>(std::string_view(bytes).substr(1, gap - 1));
  const auto kind = static_cast<Finding::Kind>(bytes.front());
  using Kind = Finding::Kind;
  constexpr std::array kinds{Kind::found, Kind::accused, Kind::error, Kind::fault};
  if (!step || std::ranges::find(kinds, kind) == kinds.end()) return std::nullopt;
  return Finding{kind, *step, bytes.substr(gap + 1)};
}

/// Steps from `first` to before `end`.
struct Range {
  std::size_t first, end;
  bool lingers = false;  ///< stays a while afterwards, for what kernels may have left to happen
};

int work_in_child(const ContainedSteps& steps, const Range& range, StepRecord& record, Answers& answers,
                  const Printed& printed) {
  using Kind = Finding::Kind;
  printed.take_over();
  answers.take_over();
  leave_crashes_to_parent();
  // A stop ends this process, which has handed over all that it found. So does a kernel that sends itself
  // one.
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  guard_descriptor(answers.descriptor());
  look_like_all_others();
  const StepReporter reporter(&record);
  try {
    for (std::size_t step = range.first; step < range.end; ++step) {
      const std::string found = steps.work(step, reporter);
      if (found.empty()) continue;
      if (step != range.first && steps.accuses && steps.accuses(step, found)) {
        answers.send(bytes_of({Kind::accused, step, ""}));
        break;
      }
      answers.send(bytes_of({Kind::found, step, found}));
      steps.take(step, found);
    }
    constexpr std::chrono::milliseconds long_enough{100};
    if (range.lingers) std::this_thread::sleep_for(long_enough);
  } catch (const Error& failure) {
    answers.send(bytes_of({Kind::error, range.end, failure.what()}));
  } catch (...) {
    answers.send(bytes_of({Kind::fault, range.end, current_exception_text()}));
  }
  answers.seal();
  return 0;
}

/// An Error of the child, with where, what and remedy in one text.
Error error_of_child(const std::string& text) {
  const std::size_t colon = std::min(text.find(": "), text.size());
  return {text.substr(0, colon), text.substr(std::min(colon + 2, text.size())), ""};
}

/// How a child that was to do some steps came to its end.
struct RangeEnd {
  std::size_t next = 0;                ///< the first step that was not answered for
  std::optional<FailedStep> failed;    ///< where a kernel ended it
  std::optional<std::size_t> accused;  ///< which is to be done alone, as is what follows
  bool at_fault = false;               ///< something was held against a step
  std::string unexplained;             ///< where it ended while none ran
  std::string unsound;                 ///< why none of its answers counts
  bool kernels_ran = false;
};

/// Returns the findings of a child, in the order of their steps; `unsound` becomes why none of them counts.
std::vector<Finding> findings_of(const Answers& answers, const Range& range, const ChildEnd& end,
                                 std::string& unsound) {
  std::vector<Finding> out;
  unsound = why_unsound(answers, end);
  std::size_t next = range.first;
  for (const std::string& bytes : answers.all()) {
    std::optional<Finding> finding = finding_from(bytes);
    using Kind = Finding::Kind;
    const bool of_process = finding && (finding->kind == Kind::error || finding->kind == Kind::fault);
    if (!finding || finding->step < next || (finding->step >= range.end) != of_process) {
      unsound = answered_twice;
      break;
    }
    next = finding->kind == Kind::found ? finding->step + 1 : range.end + 1;  // others come last
    out.push_back(std::move(*finding));
  }
  return out;
}

RangeEnd do_in_child(const ContainedSteps& steps, const Range& range, const Hooks& hooks) {
  const Inheritance inheritance;
  SharedRecord record;
  Answers answers;
  Printed printed;
  StepWatch watch(*record, &printed, steps.remark);
  const pid_t child = fork_child([&] { return work_in_child(steps, range, *record, answers, printed); });
  watch.follow(child);
  std::string changed;
  answers.when_sealed([&] { changed = changed_code(child); });
  const auto overdue = [&] {
    const std::uint64_t step = (*record).step.load(std::memory_order_acquire);
    if (steps.say && step != 0 && step <= steps.count) steps.say(step - 1);
    return watch.is_overdue();
  };
  const ChildEnd end = wait_for_children(
      {child}, {.stopped = hooks.stop, .overdue = overdue, .printed = {&printed}, .answers = {&answers}});
  RangeEnd out;
  out.next = range.first;
  out.kernels_ran = (*record).since.load(std::memory_order_relaxed) != 0;
  const std::vector<Finding> findings = findings_of(answers, range, end, out.unsound);
  if (!changed.empty()) out.unsound = changed_in_memory(changed);
  if (!out.unsound.empty()) return out;
  const bool stopped = end.child == 0 && !end.overdue && end.signal_to_parent == 0;
  if (!stopped) out.failed = watch.failed_step(end);
  for (const Finding& finding : findings) {
    if (!out.failed && finding.kind == Finding::Kind::error) throw error_of_child(finding.text);
    if (!out.failed && finding.kind == Finding::Kind::fault) throw std::runtime_error(finding.text);
    if (finding.kind == Finding::Kind::accused) out.accused = finding.step;
    if (finding.kind != Finding::Kind::found) continue;
    out.at_fault = out.at_fault || (steps.accuses && steps.accuses(finding.step, finding.text));
    steps.take(finding.step, finding.text);
    out.next = finding.step + 1;
  }
  if (out.accused && !out.failed) return out;
  if (stopped || (answers.sealed() && !out.failed)) {
    if (!stopped) watch.note_printed();
    out.next = range.end;
  } else if (!out.failed) {
    out.unexplained = (end.passed() ? "left without its answers" : end.text()) + printed.in_words("; ");
  }
  return out;
}

/// Does a step in a child that does no other, so many times. Returns whether it came to an end there and
/// nothing is held against it; else it has failed, or that was taken.
bool passes_alone(const ContainedSteps& steps, std::size_t step, const Hooks& hooks, int times = 1) {
  for (int i = 0; i < times && !hooks.stopped(); ++i) {
    const RangeEnd end = do_in_child(steps, {.first = step, .end = step + 1, .lingers = true}, hooks);
    if (end.failed) {
      steps.fail(*end.failed);
    } else if (!end.unsound.empty()) {
      steps.fail({step, {.reason = "had a process that " + end.unsound}});
    } else if (!end.unexplained.empty() && end.kernels_ran) {
      steps.fail({step, {.reason = "returned, but then its process " + end.unexplained}});
    } else if (!end.at_fault) {
      continue;
    }
    return false;
  }
  return true;
}

/// Finds the step before `end`, among the last `most`, that, alone, ends a process after its own calls, or
/// has something held against it. Returns whether there is one.
bool somebody_fails_alone(const ContainedSteps& steps, const Range& range, const Hooks& hooks,
                          std::size_t most = most_tried_alone) {
  bool found = false;
  for (std::size_t step = range.end; step > range.first && range.end - step < most && !found;) {
    found = !passes_alone(steps, --step, hooks) && !hooks.stopped();
  }
  return found;
}

/// Returns the step to go on with.
/// `unsolved` has the kernels in whose calls a process ended while nobody did so alone.
std::size_t do_some(const ContainedSteps& steps, std::size_t first, std::set<std::string>& unsolved,
                    const Hooks& hooks) {
  const RangeEnd end = do_in_child(steps, {first, steps.count}, hooks);
  if (!end.unsound.empty()) {
    // Any of them may have done so. Without the one that did, all are done again.
    if (somebody_fails_alone(steps, {first, steps.count}, hooks, steps.count) || hooks.stopped())
      return first;
    throw std::runtime_error(
        fmt::format("a process that checks {}, and no kernel does so alone", end.unsound));
  }
  if (end.failed && (end.failed->failure.kind == Failure::Kind::timed_out || end.failed->step == first)) {
    steps.fail(*end.failed);
    return end.failed->step + 1;
  }
  if (end.failed || end.accused) {
    // Not by its own fault, perhaps: a thread, a timer or a process of somebody before can strike at any
    // time. Only who does it alone is named.
    const std::size_t step = end.failed ? end.failed->step : *end.accused;
    const std::string kernel = end.failed && steps.kernel ? steps.kernel(step) : "";
    if (unsolved.contains(kernel)) {
      steps.fail(*end.failed);
    } else if (passes_alone(steps, step, hooks, tries_alone) && !hooks.stopped() &&
               !somebody_fails_alone(steps, {first, step}, hooks) && !kernel.empty()) {
      unsolved.insert(kernel);
      if (steps.remark)
        steps.remark(step, fmt::format("it {}; alone it came back", end.failed->failure.reason));
    }
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

SharedRecord::SharedRecord() : descriptor_(memfd_create("steps", MFD_CLOEXEC)) {
  if (descriptor() < 0 || ftruncate(descriptor(), sizeof(StepRecord)) != 0) refuse_memory();
  map();
}

SharedRecord::SharedRecord(int descriptor) : descriptor_(descriptor) { map(); }

void SharedRecord::map() {
  void* found = mmap(nullptr, sizeof(StepRecord), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor(), 0);
  if (found == MAP_FAILED) refuse_memory();
  record_ = static_cast<StepRecord*>(found);
}

SharedRecord::~SharedRecord() { munmap(record_, sizeof(StepRecord)); }

void StepReporter::begin(std::size_t step, double limit_seconds) const {
  record_->since.store(monotonic_now(), std::memory_order_relaxed);
  record_->limit.store(static_cast<std::int64_t>(std::min(limit_seconds, 1e9) * nanoseconds),
                       std::memory_order_relaxed);
  record_->step.store(step + 1, std::memory_order_release);
}

void StepReporter::end() const {
  if (!std::ranges::all_of(guarded, is_as_before)) give_up("closed descriptors that it did not open");
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

bool StepWatch::is_overdue(double between) {
  const std::uint64_t step = record_.step.load(std::memory_order_acquire);
  const std::int64_t since = record_.since.load(std::memory_order_relaxed),
                     limit = record_.limit.load(std::memory_order_relaxed);
  if (step == 0) {
    const double cpu = cpu_seconds_of(child_);
    if (std::exchange(last_, since) != since) cpu_between_ = cpu;
    return cpu - cpu_between_ > between;
  }
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
  } else if (end.signal == SIGSYS && end.signal_to_parent == 0) {
    // The handler that names the call cannot run where signals are blocked, as newer C libraries do in
    // fork().
    out.failure.reason =
        "made a system call that no kernel may make, or none while it is timed with --strict";
  } else if (end.signal_to_parent != 0 || end.signal != 0) {
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
  guarded.clear();
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) guard_descriptor(stream);
  keep_system_calls();
}

std::string why_unsound(const Answers& answers, const ChildEnd& end) {
  if (answers.spoilt()) return answered_nonsense;
  const bool is_cut_off = answers.sealed() && end.exit_code == Answers::cut_off;
  return is_cut_off ? "closed its answers before the last" : "";
}

std::string changed_in_memory(const std::string& code) {
  if (changed_code(getpid()) == code) {
    throw Error(code, "was changed in memory by a library, loaded before any kernel was called",
                "load none that does so: UCX, which PyTorch may bring, does not with UCX_MEM_EVENTS=n");
  }
  return fmt::format("changed code in its memory: {}", code);
}

void leave_sealed(const Answers& answers) {
  answers.seal();
  std::fflush(nullptr);
  // Programs that count which code ran, or look for leaks, do so at their exit.
  if (__gcov_dump != nullptr) __gcov_dump();
  if (__llvm_profile_write_file != nullptr) __llvm_profile_write_file();
  if (__lsan_do_leak_check != nullptr) __lsan_do_leak_check();
  _exit(0);
}

void guard_descriptor(int descriptor) {
  struct stat about {};
  if (fstat(descriptor, &about) == 0) guarded.push_back({descriptor, about.st_dev, about.st_ino});
}

bool runs_kernels() { return is_for_kernels; }

Variables pools_that_rest() {
  return {{"GOMP_SPINCOUNT", "3000"}, {"KMP_BLOCKTIME", "1"}, {"OPENBLAS_THREAD_TIMEOUT", "17"}};
}

void look_like_all_others() {
  const auto forget = [](const char* name) {
    char* const value = std::getenv(name);
    if (value == nullptr) return;
    unsetenv(name);
    std::memset(value, 0, std::strlen(value));  // what a process was started with can be read as a file
    std::memset(value - 1 - std::strlen(name), 0, std::strlen(name));
  };
  // The name of the side stays: a program that embeds this one chooses the function that a call goes to by
  // it.
  for (const char* of_some : {padding_variable, plugins_variable}) forget(of_some);
  // Libraries have read theirs when the program started.
  for (const auto& [name, value] : pools_that_rest()) {
    forget(name.c_str());
    setenv(name.c_str(), value->c_str(), 1);
  }
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
  std::set<std::string> unsolved;
  while (next < steps.count && !hooks.stopped()) {
    if (containment.own_process) {
      next = do_some(steps, next, unsolved, hooks);
      continue;
    }
    if (steps.say) steps.say(next);
    const std::string found = steps.work(next, StepReporter{});
    if (!found.empty()) steps.take(next, found);
    ++next;
  }
}

}  // namespace assay
