/// Steps through kernels that may crash, hang, throw or exit, in a process that says which step it is at.
#pragma once

#include "assay/error.hpp"
#include "assay/failure.hpp"
#include "assay/hooks.hpp"
#include "assay/operation.hpp"
#include "core/files/answers.hpp"
#include "core/files/child_process.hpp"
#include "core/files/descriptor.hpp"

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace assay {

/// Where a process is, in memory that it shares with its parent. All zero at the start.
struct StepRecord {
  std::atomic<std::uint64_t> step;         ///< 1 + the step that a kernel runs for; 0: none does
  std::atomic<std::int64_t> since, limit;  ///< of that step, in nanoseconds of the monotonic clock
  char thrown[232];                        ///< text of the exception that ended the process
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// Memory for a StepRecord, for copies of this process and the programs that are given it.
class SharedRecord {
 public:
  SharedRecord();
  /// Maps what another process made.
  explicit SharedRecord(int descriptor);
  ~SharedRecord();
  int descriptor() const { return descriptor_.value(); }
  StepRecord& operator*() const { return *record_; }
  StepRecord* get() const { return record_; }

 private:
  void map();
  Descriptor descriptor_;
  StepRecord* record_ = nullptr;
};

/// An operation that cannot be used, by a fault of its definition and of no kernel.
class OperationFault : public Error {
 public:
  using Error::Error;
  explicit OperationFault(const Error& error) : Error(error) {}
};

/// The side of the process that calls kernels.
class StepReporter {
 public:
  /// Without a record nothing is reported, and exceptions go to the caller.
  explicit StepReporter(StepRecord* record = nullptr) : record_(record) {}

  StepRecord* record() const { return record_; }

  /// Calls `kernel` as this step. An exception is reported and ends the process, but for an OperationFault;
  /// so is a guarded descriptor that is not what it was.
  template <class Kernel>
  void call(std::size_t step, double limit_seconds, const Kernel& kernel) const {
    if (record_ == nullptr) return kernel();
    begin(step, limit_seconds);
    try {
      kernel();
    } catch (const OperationFault&) {
      end();
      throw;
    } catch (...) {
      give_up();
    }
    end();
  }

 private:
  void begin(std::size_t step, double limit_seconds) const;
  void end() const;
  [[noreturn]] void give_up() const;
  [[noreturn]] void give_up(const std::string& reason) const;
  StepRecord* record_;
};

struct FailedStep {
  std::size_t step = 0;
  Failure failure;
};

/// The look of a parent at a process that calls kernels.
///
/// A kernel is overdue when its limit is over, and its process had a processor for so long, or then sleeps
/// for another second: beside other load nobody is blamed for the wait. After ten times the limit, and at
/// least a minute more, it is overdue however little it did.
class StepWatch {
 public:
  using Note = std::function<void(std::size_t step, const std::string& words)>;
  /// `note` is called with what the kernel of a step printed, when the step is over.
  explicit StepWatch(const StepRecord& record, Printed* printed = nullptr, Note note = {})
      : record_(record), printed_(printed), note_(std::move(note)) {}
  /// Seconds of a processor between two kernels, in which inputs are made: most take milliseconds.
  static constexpr double most_between = 600;
  /// Before it is asked anything else.
  void follow(pid_t child) { child_ = child; }
  /// Whether the kernel that runs, or the harness between two of them, has taken longer than it may. To be
  /// asked now and then; as a step begins, what was printed before is forgotten.
  bool is_overdue(double between = most_between);
  /// The step that ended the process; nothing when no kernel ran.
  std::optional<FailedStep> failed_step(const ChildEnd& end) const;
  /// To be called when the process has come to its end and no step failed.
  void note_printed();

 private:
  bool sleeps_on();
  const StepRecord& record_;
  Printed* printed_;
  Note note_;
  pid_t child_ = 0;
  std::uint64_t step_ = 0;  ///< as it was seen last
  std::int64_t since_ = 0;
  double cpu_at_start_ = 0, cpu_ = 0;  ///< seconds
  std::int64_t idle_since_ = 0;        ///< it sleeps since then, with this much of the processor:
  double idle_cpu_ = 0;
  bool too_long_ = false;   ///< ten times the limit is over
  std::int64_t last_ = -1;  ///< when the last step began that is over
  double cpu_between_ = 0;  ///< what the process had of a processor when that was seen
};

/// From now on a crash ends this process as the system does it, and its parent sees the signal; processes
/// that kernels leave behind become children of this one; and its output is guarded. For processes that run
/// kernels.
void leave_crashes_to_parent();
/// Seals the answers, and ends this process at once: what kernels, and libraries of theirs, would do in
/// destructors and handlers of exit is no business of anybody's.
[[noreturn]] void leave_sealed(const Answers& answers);
/// Why no answer of a process counts, of which a kernel spoilt or sealed them; empty where none did.
std::string why_unsound(const Answers& answers, const ChildEnd& end);
inline constexpr const char* answered_twice = "answered twice for a kernel, or for another";
inline constexpr const char* answered_nonsense = "answered with what is no answer";
/// Throws Error where this process has code changed likewise: no kernel did that.
std::string changed_in_memory(const std::string& code);

/// What a kernel does now and then shows in one of so many calls alone.
inline constexpr int tries_alone = 3;
/// Whoever left something behind did so shortly before, as a rule: so many others are called alone.
inline constexpr std::size_t most_tried_alone = 64;
/// From now on a kernel after which this descriptor is not the file that it is now is at fault.
void guard_descriptor(int descriptor);
/// Whether this is such a process.
bool runs_kernels();

/// From now on nobody in this process can take its system calls in, answer its page faults, or start a
/// process that is no child of it; an attempt ends it. No kernel needs any of that, and what judges and times
/// kernels relies on it. Without effect where the system has no filters.
void keep_system_calls();

/// Why this machine cannot freeze a process; empty when it can.
std::string why_no_freeze();

/// Freezes this process before its kernels are timed: what none needs once its plans are made is no longer to
/// be had. From now on the calling thread, and those that it starts, end the process by starting processes or
/// threads, by changing signal handlers, priorities, processors, timers or code in memory, and by looking
/// into other processes. The system call is told to the parent through `record`. Nothing ends it but the end
/// of the process. Throws Error where that cannot be had.
void freeze(StepRecord* record);

/// Pools of threads look for work some 50 to 100 us after a call and then sleep, instead of for milliseconds:
/// enough between the calls of a slice. They read it when their program starts.
Variables pools_that_rest();

/// Gives this process the command line and the environment that all have which call kernels: no kernel can
/// tell by them whether it is checked, measured or compared. Those who read them have done so.
void look_like_all_others();

/// Seconds that a kernel may take: as asked, or 20 times what naive took on that problem and at least 10.
/// naive itself, and all where it has no time, have a minute or 20 times what the cost takes on a slow
/// machine.
double step_limit(double asked, std::optional<double> naive_seconds, const Cost& cost);

/// Work that is done in steps. Functions are called in the order of steps.
struct ContainedSteps {
  std::size_t count = 0;
  /// Returns what a step found, as bytes; empty where there is nothing to say. In a child, if contained.
  std::function<std::string(std::size_t step, const StepReporter&)> work;
  /// Notes it: in the caller, and in the child for the steps that follow.
  std::function<void(std::size_t step, const std::string& found)> take;
  std::function<void(const FailedStep&)> fail;  ///< in the caller
  /// Whether a finding holds something against a step that another one in the same process may have done. It
  /// is then found again alone, and so are those before, until one does it.
  std::function<bool(std::size_t step, const std::string& found)> accuses{};
  /// Names the kernel of a step: one in whose calls processes end twice is named, though it passes alone.
  std::function<std::string(std::size_t step)> kernel{};
  /// In the caller: what the kernel of a step printed, where it came back; or how its process ended, if not
  /// when the step was done again.
  std::function<void(std::size_t step, const std::string& words)> remark{};
  std::function<void(std::size_t step)> say{};  ///< in the caller, which sees steps at work now and then
};

/// After a step that failed, the rest is done in another child, which sees what `take` and `fail` changed.
/// Errors of `work` outside of any kernel are thrown here as well. After a stop the rest is left out.
void do_steps(const ContainedSteps& steps, const Containment& containment, const Hooks& hooks);

}  // namespace assay
