/// Slices: calls of a kernel on inputs that change from call to call, timed, and judged afterwards.
#pragma once

#include "assay/audit.hpp"
#include "assay/operation.hpp"
#include "assay/random.hpp"
#include "core/check/surroundings.hpp"

#include <string>

namespace assay {

struct SliceTime {
  double seconds = 0;
  double seconds_by_kernel = 0;  ///< with the two system calls that ask for them
  bool by_own_clock = false;     ///< of the kernel: both are what it says
};

/// Takes the slices of one trial, and judges as many of them as cost little beside the slices themselves.
/// Which ones are judged is drawn after their calls. Beside the output it looks at what a kernel has to leave
/// as it was, at the memory that it keeps, and at the threads that work for it.
class AuditedSlices {
 public:
  /// `few` is for launches that follow one that judged `some`.
  enum class Judging { every, some, few };
  /// `before`: from before the kernel was prepared. Of `threads` threads one is the calling one.
  AuditedSlices(Timed& timed, int threads, const Surroundings& before, Judging judging = Judging::some)
      : timed_(timed), threads_(threads), before_(before), judging_(judging) {
    if (judging == Judging::few) {
      judgements_ = Drawn(0.05, 0, 1.0 / 30);
      looks_ = Drawn(0.03, 0, 1.0 / 250);
    }
  }
  struct Taken {
    double seconds = 0, cpu_seconds = 0;  ///< of all calls
    Index calls = 1;
  };
  /// At most `calls` calls and three quarters of them at least, after one that warms the caches if asked. How
  /// many and with which inputs follows from `seed`, which slices that are compared with each other share:
  /// what each drew for itself would be noise between them.
  Taken take(Index calls, bool warm, std::uint64_t seed = secret());
  /// So many, for whoever asked for that number.
  Taken take_exactly(Index calls, bool warm);
  const Audit& audit() const { return audit_; }
  /// The largest of all slices that were judged, in units of the bound.
  double worst_error() const { return worst_error_; }

 private:
  /// Something that is done beside drawn slices, as often as it costs little beside them.
  class Drawn {
   public:
    /// `share`: of the slices' time. Whatever they cost, `usual` of them come early, and then a share
    /// `fewest` of all.
    Drawn(double share, Index usual, double fewest) : share_(share), usual_(usual), fewest_(fewest) {}
    /// Secretly, with the chances that slices of so many seconds allow.
    bool drawn(double slice_seconds) const;
    void add(double seconds);

   private:
    double share_;
    Index usual_;
    double fewest_;
    Index done_ = 0;
    double seconds_ = 0;
  };

  Taken taken(Index calls, bool warm, std::uint64_t seed);
  double slice_seconds() const;
  /// Before a slice that is timed.
  void look_further(Index calls);
  void judge_a_short_slice(Index calls);
  void compare_with_other_content();
  void find(std::string fault);
  void look_around(const Affinity& affinity);
  void look_at_clock(const SliceTime& time);
  /// Whether memory that calls keep is theirs: workspaces grow in the first ones.
  bool watches_memory() const;
  /// `heap`: bytes in use before the calls.
  void look_at_memory(std::size_t heap);
  /// Where all others slept before the slice: who works in it was woken for it.
  void look_at_threads(double own, double others);

  Timed& timed_;
  int threads_;
  Surroundings before_;
  Judging judging_;
  Audit audit_;
  double worst_error_ = 0;
  double slice_seconds_ = 0, working_seconds_ = 0;  ///< by the clock, and on the processor
  Drawn judgements_{0.15, 4, 1.0 / 15}, looks_{0.1, 1, 1.0 / 15};
  Index calls_ = 0;                        ///< in those slices
  Index other_contents_ = 0, slower_ = 0;  ///< calls with other content, and those that took longer
  Index much_slower_ = 0;                  ///< of those
  double slower_times_ = 0;
  Index misread_ = 0;             ///< slices that the clock showed to be shorter than they were
  Index watched_for_memory_ = 0;  ///< slices after the first calls
  Index grown_ = 0;               ///< those after which more memory was mapped or in use than before
  double grown_bytes_ = 0;
  Index watched_for_threads_ = 0;  ///< slices before which all others slept
  Index helped_ = 0;               ///< those in which threads worked that nobody asked for
  double helping_ = 0;             ///< the largest share of the work that they did
};

}  // namespace assay
