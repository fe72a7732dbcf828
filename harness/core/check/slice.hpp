/// Slices: calls of a kernel, each on an input that it has not seen, timed one by one, and judged.
#pragma once

#include "assay/audit.hpp"
#include "assay/operation.hpp"
#include "assay/random.hpp"
#include "core/check/surroundings.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// Takes the slices of one trial, and judges as many of them as cost little beside the slices themselves.
/// Which ones are judged, and after which of their calls, is drawn; no call can tell itself from others,
/// since before each of them the same is done. Beside the output it looks at what a kernel has to leave as it
/// was, at the memory that it keeps, and at the threads that work for it.
class AuditedSlices {
 public:
  /// `few` is for launches that follow one that judged `some`.
  enum class Judging { every, some, few };
  /// `before`: from before the kernel was prepared. Of `threads` threads one is the calling one.
  AuditedSlices(Timed& timed, int threads, const Surroundings& before, Judging judging = Judging::some)
      : timed_(timed), threads_(threads), before_(before), judging_(judging) {}
  struct Taken {
    double seconds = 0, cpu_seconds = 0;  ///< of all calls, without what is done between them
    Index calls = 1;
  };
  /// After a call that is not timed, if asked, which warms the caches. The inputs follow from `seed`, which
  /// slices that are compared with each other share: what each drew for itself would be noise between them.
  Taken take(Index calls, bool warm, std::uint64_t seed = secret());
  const Audit& audit() const { return audit_; }
  /// The largest of all slices that were judged, in units of the bound.
  double worst_error() const { return worst_error_; }
  /// Seconds of a call by the clock of the harness, where all times are those of the kernel's own.
  std::optional<double> seconds_beside_own_clock() const;

 private:
  /// A slice of `calls` calls that are timed.
  struct Calls {
    double seconds = 0, cpu_seconds = 0;
    std::optional<double> seconds_beside_own_clock;
    Index looks = 0;                          ///< calls that were timed by two clocks
    double passed = 0, passed_by_kernel = 0;  ///< in those, with the looks at the clocks; the latter by ticks
    bool judged = false;
    Agreement found;
    double judging_seconds = 0;
  };
  /// `contents` draws the seeds of their inputs.
  Calls called(Index calls, bool warm, Rng& contents);
  /// Done beside drawn slices, as often as it costs little beside them.
  enum Beside { judgement, look };
  /// Secretly, with the chances that slices as long as those before allow, and one more of `seconds`, if any.
  bool is_drawn(Beside what, double seconds = 0) const;
  /// Compares a call on new content with another on the same. The calls that are timed have new content each:
  /// a kernel that keeps results gains nothing there, and is named all the same.
  void look_for_kept_results();
  /// One look: whether the call on known content was, for once, too quick to be chance.
  bool on_known_content_is_quicker();
  /// Whether a kernel of another device waits for it, and counts as many calls as there were.
  void look_at_waiting();
  /// Whether the kernel's own clock leaves out work of this processor.
  void look_at_own_clock(const Calls& calls, Index count);
  void find(std::string fault);
  void look_around(const ProcessorSet& processors);
  Surroundings::Depth usual_depth() const;
  void look_at_state(Surroundings::Depth depth);
  void look_at_descriptors();
  void look_at_clock(const Calls& calls);
  /// Whether memory that calls keep is theirs: workspaces grow in the first ones.
  bool watches_memory() const;
  /// `heap`: bytes in use before the calls.
  void look_at_memory(std::size_t heap);
  /// Threads besides the calling one that may work for a call.
  Index given_threads() const { return threads_ - 1 + timed_.helpers(); }
  /// Where all others slept before the slice: who works in it was woken for it. Seconds of a processor that
  /// calls had here and on other threads, and those that passed.
  void look_at_threads(double own, double others, double passed);

  Timed& timed_;
  int threads_;
  Surroundings before_;
  Judging judging_;
  Audit audit_;
  double worst_error_ = 0;
  double slice_seconds_ = 0;
  std::array<double, 2> beside_seconds_{};  ///< by Beside
  Index looks_ = 0;
  std::vector<double> on_new_content_, on_known_content_;  ///< seconds of calls, one of each a look
  std::array<std::vector<double>, 3> waits_;  ///< seconds of a call, of another wait, and of one more
  std::vector<double> in_a_row_;              ///< seconds of each of several calls in a row
  std::vector<double> own_, own_in_a_row_;    ///< of the two, by the kernel's own clock
  double waiting_seconds_ = 0;                ///< that all of these looks took
  double own_seconds_ = 0, seconds_beside_own_clock_ = 0;
  Index own_slices_ = 0, own_calls_ = 0;  ///< with the kernel's own clock
  Index left_out_ = 0;                    ///< of those slices, in which it left out most of the work
  Index calls_ = 0;                       ///< in those slices
  Index misread_ = 0;                     ///< slices that the clock showed to be shorter than they were
  Index watched_for_memory_ = 0;          ///< slices after the first calls
  Index grown_ = 0;                       ///< those after which more memory was mapped or in use than before
  double grown_bytes_ = 0;
  std::size_t first_descriptors_ = 0, most_descriptors_ = 0;
  Index opened_ = 0;               ///< looks at which more descriptors were open than ever before
  Index watched_for_threads_ = 0;  ///< slices before which all others slept
  Index helped_ = 0;               ///< those in which threads worked that nobody asked for
  double helping_ = 0;             ///< the largest share of the work that they did, or more threads at once
};

}  // namespace assay
