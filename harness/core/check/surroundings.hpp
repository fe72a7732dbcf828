/// A kernel shares a process with everything that runs after it, and has to leave these things as they were.
#pragma once

#include "core/files/processor_set.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay {

/// The floating-point environment of the calling thread, in some nanoseconds.
class FloatEnvironment {
 public:
  static FloatEnvironment now();
  /// How the present one differs from this one: "flush-to-zero on"; empty when it does not.
  std::string change() const;
  void restore() const;

 private:
  std::uint32_t vector_ = 0;  ///< MXCSR, or FPCR
  std::uint16_t x87_ = 0;
  bool upper_halves_ = false;  ///< the upper halves of vector registers hold something
};

/// The state of the calling thread and the process. Read in some microseconds: the floating-point
/// environment, the processors that it may run on, the priority, signal handlers and blocked signals, timers,
/// children, and whether all other threads sleep. Thoroughly, in some ten: the handlers of real-time signals,
/// timers of POSIX, the folder, the mask of new files, and limits. At a glance, every fourth handler is read,
/// from a drawn one on: a system call for each takes some machines longer than a short slice.
class Surroundings {
 public:
  enum class Depth { glance, quick, thorough };
  static Surroundings now();
  /// The first difference of the present ones, in words; empty when there is none.
  std::string change(Depth depth = Depth::thorough) const;
  /// Puts back what can be put back.
  void restore() const;
  /// All other threads slept, or did so soon.
  bool others_slept() const { return others_slept_; }
  /// That the calling thread may run on. Who measures may move it between slices: change() does not look at
  /// them.
  const ProcessorSet& processors() const { return processors_; }

 private:
  /// The numbers that a look of some depth goes through.
  struct Signals {
    std::size_t first, step, end;
  };
  static Signals signals_at(Depth depth);
  /// Without the floating-point environment, processors and other threads.
  static Surroundings seen(Depth depth, const Signals& signals);
  FloatEnvironment floats_;
  ProcessorSet processors_;
  bool others_slept_ = false;
  int policy_ = 0, priority_ = 0;
  std::array<struct sigaction, 65> handlers_{};  ///< of all signals but 31, which is for freeze()
  sigset_t blocked_{};
  bool timer_ = false, children_ = false;
  std::vector<int> posix_timers_;  ///< their numbers
  std::string folder_;
  mode_t new_files_ = 0;
  std::array<rlimit, RLIM_NLIMITS> limits_{};
};

/// Pages of memory that the process has mapped, resident or not.
std::size_t mapped_pages();

/// Bytes of the heap that are in use; 0 where the library does not tell.
std::size_t heap_bytes();

/// Descriptors that are open in this process, but for those through which it is looked at.
std::size_t open_descriptors();

/// Whether devices with this number of a driver may do the work of kernels: all but memory, terminals, and
/// those of the system itself.
bool may_be_accelerator(unsigned driver);
/// Whether this process has such a device open, as those have that use an accelerator.
bool holds_accelerator();

/// Page faults of all children that were waited for: none starts without some.
long page_faults_of_children();

/// Seconds of processor time that the calling thread has used.
double cpu_seconds_of_thread();

/// Seconds for which the calling thread would have run and had no processor; 0 where the system does not
/// tell.
double seconds_without_processor();

enum class CpuBound { least, most };
/// Seconds of processor time that all threads of the process but the calling one have used: at least or at
/// most so many, since the calling one may be interrupted between two looks at clocks.
double cpu_seconds_of_others(CpuBound bound);

/// Waits until all other threads of this process sleep. Returns whether they did within `longest` seconds.
bool others_sleep(double longest);

}  // namespace assay
