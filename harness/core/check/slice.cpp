#include "core/check/slice.hpp"

#include "assay/random.hpp"
#include "core/machine/clock.hpp"

#include <fmt/format.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

/// The monotonic clock as the system call tells it: no library stands between, which a program could replace.
double kernel_clock_seconds() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Returns by how many pages more is mapped than ever before. What was given back and is taken again is no
/// growth: heaps shrink and grow with whatever was freed last.
Index note_mapped_pages() {
  static Index most = 0;
  const auto now = static_cast<Index>(mapped_pages());
  const Index more = std::max<Index>(0, now - most);
  most += more;
  return more;
}

SliceTime time_of(Timed& timed, Index calls) {
  static_cast<void>(timed.own_seconds());  // of what was called before
  const double by_kernel = kernel_clock_seconds();
  const auto start = Clock::now();
  timed.repeat(calls);
  const double seconds = seconds_since(start);
  if (const auto own = timed.own_seconds()) {
    if (*own > 0 && std::isfinite(*own))
      return {.seconds = *own, .seconds_by_kernel = *own, .by_own_clock = true};
    throw std::runtime_error(fmt::format("its own clock says that {} calls took {} s", calls, *own));
  }
  return {.seconds = seconds, .seconds_by_kernel = kernel_clock_seconds() - by_kernel};
}

/// `calls` calls of a slice that is armed.
SliceTime time_of_slice(Timed& timed, Index calls) {
  if (!timed.updates_in_place()) return time_of(timed, calls);
  const SliceTime before = calls > 1 ? time_of(timed, calls - 1) : SliceTime{};
  timed.note_state(secret());
  const SliceTime last = time_of(timed, 1);
  return {before.seconds + last.seconds, before.seconds_by_kernel + last.seconds_by_kernel,
          last.by_own_clock};
}

}  // namespace

bool AuditedSlices::Drawn::drawn(double slice_seconds) const {
  if (done_ == 0 && usual_ > 0) return true;
  const double fewest = done_ < usual_ ? 1.0 / 3 : fewest_;
  const double affordable = done_ > 0 ? share_ * slice_seconds * static_cast<double>(done_) / seconds_ : 0;
  return Rng(secret()).unit() < std::max(affordable, fewest);
}

void AuditedSlices::Drawn::add(double seconds) {
  ++done_;
  seconds_ += seconds;
}

void Audit::add(const Audit& other) {
  slices += other.slices;
  judged += other.judged;
  compared += other.compared;
  if (fault.empty()) fault = other.fault;
}

AuditedSlices::Taken AuditedSlices::take(Index calls, bool warm, std::uint64_t seed) {
  Rng rng(seed);
  // None of them is known to be the last: a kernel may not rest in all others.
  const Index fewer = rng.integer(0, calls / 4);
  return taken(calls - fewer, warm, rng.next());
}

AuditedSlices::Taken AuditedSlices::take_exactly(Index calls, bool warm) {
  return taken(calls, warm, secret());
}

AuditedSlices::Taken AuditedSlices::taken(Index calls, bool warm, std::uint64_t seed) {
  // Pools of threads look for work a while longer after a call, and to wait for their sleep costs
  // milliseconds: in one slice of three, nobody knows which.
  constexpr double patience = 0.05, long_patience = 0.3;
  const bool first = audit_.slices == 0;
  const bool single = threads_ == 1 && !timed_.may_have_helpers();
  const bool watched = first || judging_ == Judging::every || Rng(secret()).integer(0, 2) == 0;
  const bool alone = single && watched && others_sleep(patience);
  if (single && !alone && first && before_.others_slept() && !others_sleep(long_patience)) {
    find("keeps threads busy from its preparation on, and was given none but its own");
  }
  // The first slice follows the preparation, which may not change it either.
  const Affinity affinity = first ? before_.affinity() : Affinity::now();
  note_mapped_pages();
  // Where every slice is judged there are few of them: one in three is enough.
  const bool further = judging_ == Judging::every ? audit_.slices % 3 == 1 : looks_.drawn(slice_seconds());
  if (audit_.judged > 0 && further) look_further(calls);
  timed_.arm(seed, true);
  if (warm) timed_.repeat(1);
  const long faults = page_faults_of_children();
  // To ask for it takes as long as the heap has free blocks.
  const std::size_t heap = watches_memory() ? heap_bytes() : 0;
  const double cpu = cpu_seconds_of_thread(), others = cpu_seconds_of_others();
  Taken out{.calls = calls};
  const SliceTime time = time_of_slice(timed_, calls);
  out.seconds = time.seconds;
  out.cpu_seconds = cpu_seconds_of_thread() - cpu;
  if (alone) look_at_threads(out.cpu_seconds, cpu_seconds_of_others() - others);
  look_at_clock(time);
  if (page_faults_of_children() != faults) find("had another process work for it");
  look_around(affinity);
  if (watches_memory()) look_at_memory(heap);

  const auto judging = Clock::now();
  const bool judged = judging_ == Judging::every || audit_.judged == 0 || judgements_.drawn(slice_seconds());
  Agreement found = timed_.settle(judged ? std::optional(secret()) : std::nullopt);
  ++audit_.slices;
  slice_seconds_ += out.seconds;
  // The notes of a state that calls update are no work of the kernel.
  working_seconds_ += time.by_own_clock ? out.seconds : std::min(out.seconds, out.cpu_seconds);
  calls_ += calls;
  if (judged) {
    judgements_.add(seconds_since(judging));
    ++audit_.judged;
    audit_.compared += found.compared;
    worst_error_ = std::max(worst_error_, found.worst_error);
  }
  if (!found.agrees) find(std::move(found.detail));
  if (alone && !others_sleep(long_patience)) {
    find(fmt::format("threads that it started still worked {:.0f} ms after it had returned",
                     1e3 * long_patience));
  }
  return out;
}

void AuditedSlices::look_further(Index calls) {
  const auto start = Clock::now();
  if (calls > 1) judge_a_short_slice(calls);
  if (threads_ == 1) compare_with_other_content();
  looks_.add(seconds_since(start));
}

void AuditedSlices::judge_a_short_slice(Index calls) {
  // Slices that are timed have no less than three quarters of the calls: a kernel could rest until then.
  timed_.arm(secret(), false);
  static_cast<void>(time_of_slice(timed_, Rng(secret()).integer(1, calls)));
  const Agreement found = timed_.settle(secret());
  worst_error_ = std::max(worst_error_, found.worst_error);
  if (!found.agrees) find(found.detail);
}

void AuditedSlices::compare_with_other_content() {
  // Processors learn the branches of some ten thousand elements that come again and again, and mispredict
  // them for other content: honest kernels take up to 0.1 ms longer by that.
  constexpr double times = 3, slack = 2e-4, share = 0.6, long_call = 1e-3;
  constexpr double beyond_doubt_times = 20, beyond_doubt = 0.01;
  const double call_seconds = working_seconds_ / static_cast<double>(calls_);
  const Index enough = call_seconds > long_call ? 2 : 5;
  double seconds = 0;
  // The first call brings the kernel's own memory into the caches again.
  for (int call = 0; call < 2; ++call) {
    const auto other = timed_.other_content(secret());
    if (other == nullptr) return;
    static_cast<void>(timed_.own_seconds());
    // In processor time: a kernel is no slower where the processor is taken away for a while.
    const double before = cpu_seconds_of_thread();
    timed_.repeat(1);
    const double after = cpu_seconds_of_thread();
    seconds = timed_.own_seconds().value_or(after - before);
  }
  ++other_contents_;
  if (seconds <= times * call_seconds + slack) return;
  ++slower_;
  if (seconds > beyond_doubt_times * call_seconds && seconds > beyond_doubt) ++much_slower_;
  slower_times_ = std::max(slower_times_, seconds / call_seconds);
  if ((slower_ < enough && much_slower_ < 2) ||
      static_cast<double>(slower_) < share * static_cast<double>(other_contents_))
    return;
  find(fmt::format(
      "keeps results between calls: with other content a call takes up to {:.3g} times as long as where "
      "one element changed, in {} of {} slices",
      slower_times_, slower_, other_contents_));
}

void AuditedSlices::find(std::string fault) {
  if (audit_.fault.empty()) audit_.fault = std::move(fault);
}

void AuditedSlices::look_at_clock(const SliceTime& time) {
  // `slack` covers two system calls. An interruption between them hits fewer than half of all slices, though
  // on a busy machine it may hit several short slices in a row.
  constexpr double slack = 1e-5, share = 0.05, short_slice = 1e-3;
  const Index enough = time.seconds_by_kernel < short_slice ? 6 : 3;
  if (time.seconds > (1 - share) * time.seconds_by_kernel - slack) return;
  if (++misread_ < enough || 2 * misread_ < audit_.slices) return;
  find(fmt::format("tampers with the clock: {:.3g} s passed in a slice where it showed {:.3g} s",
                   time.seconds_by_kernel, time.seconds));
}

void AuditedSlices::look_around(const Affinity& affinity) {
  if (affinity.changed()) {
    affinity.restore();
    find("changed the processors that it may run on");
  }
  if (std::string change = before_.change(); !change.empty()) {
    before_.restore();
    find(std::move(change));
  }
}

bool AuditedSlices::watches_memory() const {
  // Workspaces grow in a first call or two, and heaps now and then; libraries that make their code when it is
  // called do so for a dozen calls.
  constexpr Index first_calls = 32;
  return calls_ >= first_calls;
}

void AuditedSlices::look_at_memory(std::size_t heap) {
  constexpr Index enough = 8;
  constexpr double share = 0.9;
  // An allocator may keep freed memory for the next calls, a few blocks of each size and thread,
  // and it takes memory from the system in pieces of 132 KiB.
  constexpr double kept_by_allocators = 1 << 18;
  constexpr double page = 4096;
  const std::size_t heap_now = heap_bytes();
  const double more = std::max(page * static_cast<double>(note_mapped_pages()),
                               heap_now > heap ? static_cast<double>(heap_now - heap) : 0);
  ++watched_for_memory_;
  if (more <= 0) return;
  ++grown_;
  grown_bytes_ += more;
  if (grown_ < enough || grown_bytes_ < kept_by_allocators) return;
  if (static_cast<double>(grown_) < share * static_cast<double>(watched_for_memory_)) return;
  find(fmt::format("keeps memory: {:.3g} KiB more after {} of {} slices", grown_bytes_ / 1024, grown_,
                   watched_for_memory_));
}

void AuditedSlices::look_at_threads(double own, double others) {
  constexpr double share = 0.25, least = 5e-6, part_of_slices = 0.1;
  constexpr Index enough = 5;
  ++watched_for_threads_;
  if (others < std::max(least, share * (own + others))) return;
  ++helped_;
  helping_ = std::max(helping_, others / (own + others));
  if (helped_ < enough ||
      static_cast<double>(helped_) < part_of_slices * static_cast<double>(watched_for_threads_))
    return;
  find(fmt::format(
      "works with more threads than the one it was given: others did {:.0f} % of the work in {} of {} "
      "slices",
      100 * helping_, helped_, watched_for_threads_));
}

double AuditedSlices::slice_seconds() const {
  return audit_.slices > 0 ? slice_seconds_ / static_cast<double>(audit_.slices) : 0;
}

}  // namespace assay
