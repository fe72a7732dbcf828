#include "core/check/slice.hpp"

#include "core/machine/clock.hpp"
#include "core/registry/workload.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

/// Returns by how many pages more is mapped than ever before. What was given back and is taken again is no
/// growth: heaps shrink and grow with whatever was freed last.
Index note_mapped_pages() {
  static Index most = 0;
  const auto now = static_cast<Index>(mapped_pages());
  const Index more = std::max<Index>(0, now - most);
  most += more;
  return more;
}

struct CallTime {
  double seconds;
  std::uint64_t ticks;
};
/// Ticks are counted within the seconds, so that no work that the processor puts off, such as storing past
/// the caches, is in them alone.
[[gnu::noinline]] CallTime time_of_call(Timed& timed) {
  const auto start = Clock::now();
  const std::uint64_t first = ticks();
  timed.repeat(1);
  const std::uint64_t passed = ticks() - first;
  return {seconds_since(start), passed};
}

}  // namespace

void Audit::add(const Audit& other) {
  slices += other.slices;
  judged += other.judged;
  compared += other.compared;
  squares += other.squares;
  rounded += other.rounded;
  if (fault.empty()) fault = other.fault;
}

double Audit::rms_error() const {
  return rounded > 0 ? std::sqrt(squares / static_cast<double>(rounded)) : 0;
}

AuditedSlices::Taken AuditedSlices::take(Index calls, bool warm, std::uint64_t seed) {
  const bool first = audit_.slices == 0;
  if (audit_.judged > 0 && is_drawn(Beside::look)) look_for_kept_results();
  if (timed_.waits_for_device() && !first) look_at_waiting();
  // Pools of threads look for work a while longer after a call, also after those above, and to wait for their
  // sleep costs milliseconds: in one slice of three, nobody knows which.
  constexpr double patience = 0.05, long_patience = 0.3;
  const bool single = given_threads() == 0;
  const bool watched = first || judging_ == Judging::every || Rng(secret()).integer(0, 2) == 0;
  // Whose threads may work is not made to wait for them: to be woken costs its calls time.
  const bool alone = watched && others_sleep(single ? patience : 0);
  if (single && !alone && first && before_.others_slept() && !others_sleep(long_patience)) {
    find("keeps threads busy from its preparation on, and was given none but its own");
  }
  // The first slice follows the preparation, which may not change it either.
  const ProcessorSet processors = first ? before_.processors() : ProcessorSet::of_thread();
  note_mapped_pages();
  Rng contents(seed);
  timed_.arm(contents.next());
  const long faults = page_faults_of_children();
  // To ask for it takes as long as the heap has free blocks.
  const std::size_t heap = watches_memory() ? heap_bytes() : 0;
  const auto start = Clock::now();
  const double others = cpu_seconds_of_others(CpuBound::most);
  Calls of = called(calls, warm, contents);
  if (alone) {
    const double theirs = cpu_seconds_of_others(CpuBound::least) - others;
    look_at_threads(of.cpu_seconds, theirs, seconds_since(start));
  }
  look_at_clock(of);
  look_at_own_clock(of, calls);
  if (page_faults_of_children() != faults) find("had another process work for it");
  look_around(processors);
  if (watches_memory()) look_at_memory(heap);

  // No kernel knows this content from others: what it plans for calls that are timed is as good as here.
  if (of.judged && audit_.figures.empty() && Rng(secret()).integer(0, 1) == 0)
    audit_.figures = timed_.figures_of_first_content();
  const Agreement found = timed_.settle(of.judged) & of.found;
  ++audit_.slices;
  slice_seconds_ += of.seconds;
  calls_ += calls;
  if (of.judged) {
    ++audit_.judged;
    beside_seconds_[Beside::judgement] += of.judging_seconds;
    audit_.compared += found.compared;
    if (found.agrees) {  // others may be infinitely far off
      audit_.squares += found.squares;
      audit_.rounded += found.rounded;
    }
    worst_error_ = std::max(worst_error_, found.worst_error);
  }
  if (!found.agrees) find(found.detail);
  if (alone && single && !others_sleep(long_patience)) {
    find(fmt::format("threads that it started still worked {:.0f} ms after it had returned",
                     1e3 * long_patience));
  }
  return {.seconds = of.seconds, .cpu_seconds = of.cpu_seconds, .calls = calls};
}

AuditedSlices::Calls AuditedSlices::called(Index calls, bool warm, Rng& contents) {
  // All calls come from one place in the code: a kernel can read there, on the stack, who called.
  enum class Use { warming, timing, judging, warming_again };
  // Two more clocks are read: a counter around each call, and around so many drawn ones one that takes a
  // system call.
  constexpr Index looks = 16;
  Rng rng(secret());
  Calls out;
  std::optional<double> own;
  out.judged = calls > 1 && is_drawn(Beside::judgement);
  bool is_awaited = out.judged;
  Use next = warm ? Use::warming : Use::timing;
  static_cast<void>(timed_.own_seconds());  // of what was called before
  const double start_by_kernel = system_seconds(CLOCK_MONOTONIC);
  const std::uint64_t first_tick = ticks();
  std::uint64_t ticks_of_calls = 0, ticks_of_renewal = 0;
  for (Index timed = 0; timed < calls || next == Use::judging;) {
    const Use use = std::exchange(next, Use::timing);
    const std::uint64_t renewed_from = ticks();
    // One more call than are timed may be judged, on content that may spare it some work.
    if (use == Use::judging) {
      timed_.renew(rng.next(), rng.integer(0, 1) == 0 ? Renewal::untimed : Renewal::one_element);
    } else if (use == Use::warming_again) {
      timed_.renew(rng.next(), Renewal::untimed);
    } else {
      timed_.renew(contents.next(), use == Use::timing ? Renewal::timed : Renewal::untimed);
    }
    // One that followed sooner than others would know what it is for: one element is new in no time.
    if (use == Use::timing) ticks_of_renewal = ticks() - renewed_from;
    while (ticks() - renewed_from < ticks_of_renewal) continue;
    const bool looked = timed == 0 || rng.integer(0, calls / looks) == 0;
    const double cpu = looked ? cpu_seconds_of_thread() : 0;
    const auto [passed, ticked] = time_of_call(timed_);
    const double cpu_passed = looked ? cpu_seconds_of_thread() - cpu : 0;
    // Asked for each call: what it says of one cannot hide another.
    const std::optional<double> its = timed_.own_seconds();
    if (use == Use::timing) {
      ++timed;
      out.seconds += std::max(1e-9, passed - seconds_of_a_look());
      if (its) own = own.value_or(0) + *its;
      if (looked) {
        ticks_of_calls += ticked;
        out.cpu_seconds += cpu_passed;
        out.passed += passed;
        ++out.looks;
      }
    }
    // Drawn when it is over, so that no call can know. Who can tell that a call is timed may be judged by it.
    bool judge_now = use == Use::judging;
    if (use == Use::timing && calls == 1) is_awaited = out.judged = is_drawn(Beside::judgement, passed);
    if (use == Use::timing && is_awaited && rng.integer(0, calls - timed) == 0) {
      is_awaited = false;
      judge_now = calls == 1 || rng.integer(0, 2) == 0;
      next = judge_now ? Use::warming_again : Use::judging;
    }
    if (judge_now) {
      // What a kernel puts back with the last call of a slice is still there in a drawn one.
      look_at_state(usual_depth());
      const auto before = Clock::now();
      out.found = timed_.judge(secret());
      out.judging_seconds = seconds_since(before);
    }
  }
  out.passed_by_kernel = (system_seconds(CLOCK_MONOTONIC) - start_by_kernel) *
                         static_cast<double>(ticks_of_calls) /
                         static_cast<double>(std::max<std::uint64_t>(ticks() - first_tick, 1));
  if (out.looks < calls) out.cpu_seconds *= out.seconds / out.passed;
  if (own) {
    if (!(*own > 0 && std::isfinite(*own)))
      throw std::runtime_error(fmt::format("its own clock says that {} calls took {} s", calls, *own));
    out.seconds_beside_own_clock = std::exchange(out.seconds, *own);
  }
  return out;
}

bool AuditedSlices::is_drawn(Beside what, double seconds) const {
  const Index done = what == Beside::judgement ? audit_.judged : looks_;
  const bool few = judging_ == Judging::few;
  const Index slices = audit_.slices + (seconds > 0 ? 1 : 0);
  const double mean_slice = (slice_seconds_ + seconds) / static_cast<double>(std::max<Index>(slices, 1));
  // Where every slice is judged there are few of them, and one look in three is enough.
  if (judging_ == Judging::every) return what == Beside::judgement || audit_.slices % 3 == 1;
  if (done == 0 && !few) return true;
  struct Chances {
    double share;  ///< of the time of slices
    Index early;   ///< so many come in the first slices, whatever they cost
    double least;  ///< of slices later on
  };
  constexpr Chances some[]{{0.15, 4, 1.0 / 15}, {0.1, 1, 1.0 / 15}},
      later[]{{0.05, 0, 1.0 / 30}, {0.03, 0, 1.0 / 250}};
  const Chances& its = (few ? later : some)[what];
  // Launches have few slices of long calls: each has a chance that their number makes up for.
  constexpr double long_slice = 1e-2, early = 1.0 / 3;
  const bool scarce = what == Beside::judgement && done == 0;
  const double least = done < its.early ? early
                       : scarce         ? std::clamp(mean_slice / long_slice, its.least, early)
                                        : its.least;
  const double affordable =
      done > 0 ? its.share * mean_slice * static_cast<double>(done) / beside_seconds_[what] : 0;
  return Rng(secret()).unit() < std::max(affordable, least);
}

void AuditedSlices::look_for_kept_results() {
  // Who was quicker once is looked at again until it is known whether that was chance.
  constexpr double most_seconds = 1;
  const auto start = Clock::now();
  while (on_known_content_is_quicker() && audit_.fault.empty() && seconds_since(start) < most_seconds) {
  }
  beside_seconds_[look] += seconds_since(start);
}

bool AuditedSlices::on_known_content_is_quicker() {
  timed_.renew(secret(), Renewal::timed);
  timed_.repeat(1);
  bool nudged = false;
  // Where the processor is taken away for a while no call is slower: neither by its clock nor, with several
  // threads, by what all of them together had of processors.
  const clockid_t clock = given_threads() == 0 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID;
  const bool new_first = Rng(secret()).integer(0, 1) == 0;  // the first of two may find less in the caches
  for (const bool is_new : {new_first, !new_first}) {
    // Either way all of the input was written just before.
    nudged = timed_.nudge(is_new);
    if (is_new && !nudged) timed_.renew(secret(), Renewal::timed);
    static_cast<void>(timed_.own_seconds());
    const double cpu = system_seconds(clock);
    const double passed = time_of_call(timed_).seconds - seconds_of_a_look();
    const double spent = std::min(passed, system_seconds(clock) - cpu);
    (is_new ? on_new_content_ : on_known_content_).push_back(timed_.own_seconds().value_or(spent));
  }
  ++looks_;

  // Processors learn the branches of some ten thousand elements: on known content honest kernels take half
  // the time, unless the new content has the same branches. Which of the two is called first is drawn, so
  // that chance makes no more than one pair in two look so, and all of the fewest pairs once in 10^7 times.
  constexpr double far_times = 3, far_slack = 1e-3;
  const double times = nudged ? 1.25 : far_times, slack = nudged ? 2e-7 : 5e-5;
  constexpr Index enough = 24, enough_of_far = 6;
  const double new_quarter = quantile(on_new_content_, 0.25);
  const double known_quarter = quantile(on_known_content_, 0.75);
  const bool is_quicker = looks_ >= enough && new_quarter > times * known_quarter + slack;
  const bool is_far_quicker =
      looks_ >= enough_of_far &&
      std::ranges::min(on_new_content_) > far_times * std::ranges::max(on_known_content_) + far_slack;
  // Beside other work most calls of several threads are interrupted, and their least times still tell: of
  // equal calls the first n in order of time are all on known content once in 2^n times.
  constexpr std::ptrdiff_t surely = 32, suspiciously = 8;
  const double least_new = std::ranges::min(on_new_content_);
  const auto quicker = std::ranges::count_if(on_known_content_,
                                             [&](double known) { return times * known + slack < least_new; });
  if (is_quicker || is_far_quicker || quicker >= surely) {
    find(fmt::format(
        "keeps results between calls: on the content of the call before it takes {}, on new content {}",
        seconds_text(median(on_known_content_)), seconds_text(median(on_new_content_))));
  }
  return quicker >= suspiciously || on_new_content_.back() > times * on_known_content_.back() + slack;
}

void AuditedSlices::look_at_waiting() {
  // As often as it costs little: one of three slices at first.
  constexpr double share = 0.1, long_call = 0.02;
  constexpr std::size_t enough = 8;
  constexpr Index many = 8;
  const bool affordable = waiting_seconds_ < share * slice_seconds_;
  if (Rng(secret()).integer(0, 2) != 0 || (waits_[0].size() >= enough && !affordable)) return;
  const auto start = Clock::now();
  const auto seconds_of = [&](Index calls) {
    const double waited = seconds_without_processor();
    const auto before = Clock::now();
    timed_.repeat(calls);
    const double passed = seconds_since(before);
    return std::max(0.0, passed - (seconds_without_processor() - waited));
  };
  const auto renew = [&] {
    timed_.renew(secret(), Renewal::timed);
    static_cast<void>(timed_.own_seconds());
  };
  renew();
  const double call = seconds_of(1);
  waits_[0].push_back(call);
  if (const auto own = timed_.own_seconds()) own_.push_back(*own);
  for (const std::size_t again : {std::size_t{1}, std::size_t{2}}) waits_[again].push_back(seconds_of(0));
  if (call < long_call) {
    renew();
    const double all = seconds_of(many) + seconds_of(0);
    in_a_row_.push_back(all / static_cast<double>(many));
    if (const auto own = timed_.own_seconds()) own_in_a_row_.push_back(*own);
  }
  waiting_seconds_ += seconds_since(start);

  // On a busy machine most looks may be interrupted, and some are not.
  constexpr double slack = 2e-5, times = 2;
  const auto low = [](const std::vector<double>& of) { return quantile(of, 0.25); };
  const auto high = [](const std::vector<double>& of) { return quantile(of, 0.75); };
  const auto is_longer = [&](const std::vector<double>& one, const std::vector<double>& other) {
    return one.size() >= enough && std::ranges::min(one) > times * high(other) + slack;
  };
  if (is_longer(waits_[1], waits_[2])) {
    find(fmt::format("does not wait for its work: asked to synchronize once more it took {}, and then {}",
                     seconds_text(median(waits_[1])), seconds_text(median(waits_[2]))));
  }
  if (is_longer(in_a_row_, waits_[0])) {
    find(fmt::format("does not wait for its work: each of {} calls in a row took {}, and one by itself {}",
                     many, seconds_text(median(in_a_row_)), seconds_text(median(waits_[0]))));
  }
  // Clocks of short calls may count what it takes to start one, and accelerators speed up in a row.
  constexpr double short_call = 5e-5, least_calls = 2;
  if (own_in_a_row_.size() < enough || own_.size() < enough || low(own_) < short_call) return;
  if (high(own_in_a_row_) < least_calls * low(own_)) {
    find(fmt::format("its own clock says {} of {} calls in a row, and {} of one",
                     seconds_text(median(own_in_a_row_)), many, seconds_text(median(own_))));
  }
}

std::optional<double> AuditedSlices::seconds_beside_own_clock() const {
  if (own_calls_ == 0) return std::nullopt;
  return seconds_beside_own_clock_ / static_cast<double>(own_calls_);
}

void AuditedSlices::look_at_own_clock(const Calls& calls, Index count) {
  if (!calls.seconds_beside_own_clock) return;
  ++own_slices_;
  own_calls_ += count;
  own_seconds_ += calls.seconds;
  seconds_beside_own_clock_ += *calls.seconds_beside_own_clock;
  // Its own clock need not count what it takes to start a call and to copy all bytes, here at a tenth of the
  // pace of a slow bus. All else for which this thread had a processor is work, or waiting for the device.
  // Time without a processor does not count: links to a device may be slow.
  constexpr double start = 2e-4, bytes_per_second = 5e8, times = 2, share = 0.8;
  constexpr Index enough = 5;
  const double explained =
      calls.seconds + static_cast<double>(count) * (start + timed_.bytes() / bytes_per_second);
  if (calls.cpu_seconds < times * explained) return;
  if (++left_out_ < enough || static_cast<double>(left_out_) < share * static_cast<double>(own_slices_))
    return;
  find(
      fmt::format("its own clock leaves out work of this processor: it says {} a call, which took {} by ours",
                  seconds_text(own_seconds_ / static_cast<double>(own_calls_)),
                  seconds_text(*seconds_beside_own_clock())));
}

void AuditedSlices::find(std::string fault) {
  if (audit_.fault.empty()) audit_.fault = std::move(fault);
}

void AuditedSlices::look_at_clock(const Calls& calls) {
  // `slack` covers the system calls around a slice. An interruption between those and the counter hits fewer
  // than half of all slices, though on a busy machine it may hit several short slices in a row.
  constexpr double slack = 2e-6, share = 0.05, short_slice = 1e-3;
  const Index enough = calls.passed_by_kernel < short_slice ? 6 : 3;
  const double least = (1 - share) * calls.passed_by_kernel - slack;
  if (calls.passed > least) return;
  if (++misread_ < enough || 2 * misread_ < audit_.slices) return;
  find(fmt::format("tampers with the clock: {:.3g} s passed in calls that showed {:.3g} s",
                   calls.passed_by_kernel, calls.passed));
}

void AuditedSlices::look_around(const ProcessorSet& processors) {
  if (ProcessorSet::of_thread() != processors) {
    processors.give_to(0);
    find("changed the processors that it may run on");
  }
  constexpr Index seldom = 15;  // a thorough look takes some ten microseconds
  const bool thorough = audit_.slices == 0 || Rng(secret()).integer(0, seldom) == 0;
  look_at_state(thorough ? Surroundings::Depth::thorough : usual_depth());
  if (thorough) look_at_descriptors();
}

Surroundings::Depth AuditedSlices::usual_depth() const {
  // Short slices are many, and leave no handler unseen.
  constexpr double long_slice = 2e-3;
  return slice_seconds_ > long_slice * static_cast<double>(audit_.slices) ? Surroundings::Depth::quick
                                                                          : Surroundings::Depth::glance;
}

void AuditedSlices::look_at_state(Surroundings::Depth depth) {
  std::string change = before_.change(depth);
  if (change.empty()) return;
  before_.restore();
  find(std::move(change));
}

void AuditedSlices::look_at_descriptors() {
  // Libraries open files of the system in their first calls, and some keep a few.
  constexpr Index enough = 3;
  constexpr std::size_t few = 8, many = 64;
  const std::size_t now = open_descriptors();
  if (first_descriptors_ == 0) first_descriptors_ = most_descriptors_ = now;
  if (now <= most_descriptors_) return;
  most_descriptors_ = now;
  const std::size_t more = now - first_descriptors_;
  if (++opened_ < enough ? more < many : more < few) return;
  find(fmt::format("leaves descriptors open: {} more than after its first call", more));
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

void AuditedSlices::look_at_threads(double own, double others, double passed) {
  constexpr double share = 0.25, least = 2e-5, part_of_slices = 0.1, slack = 0.05;
  constexpr Index enough = 5;
  const auto given = static_cast<double>(given_threads());
  ++watched_for_threads_;
  // None may work; or no more than so many had a processor all the time, however short of them the machine
  // is.
  const double may = given == 0 ? share * (own + others) : (1 + slack) * given * passed + least;
  if (others < std::max(least, may)) return;
  ++helped_;
  helping_ = std::max(helping_, given == 0 ? others / (own + others) : others / passed);
  if (helped_ < enough ||
      static_cast<double>(helped_) < part_of_slices * static_cast<double>(watched_for_threads_))
    return;
  const std::string seen = fmt::format("in {} of {} slices", helped_, watched_for_threads_);
  find(given == 0
           ? fmt::format(
                 "works with more threads than the one it was given: others did {:.0f} % of the work {}",
                 100 * helping_, seen)
           : fmt::format(
                 "works with more threads than the {:.0f} that it was given and declares: {:.3g} besides "
                 "the calling one worked at once {}",
                 given + 1, helping_, seen));
}

}  // namespace assay

namespace assay::detail {

// A few slices of calls at the end of a check, as they are timed later.

Rehearsal::Rehearsal() : before_(std::make_unique<const Surroundings>(Surroundings::now())) {
#ifdef __GLIBC__
  // Fresh memory holds no zeros by chance, but bytes of 0x7f, the complement of the option: floats of 1e38.
  // So a kernel that reads what it did not write is found out.
  constexpr int complement = 0x80;
  mallopt(M_PERTURB, complement);
#endif
}

Rehearsal::~Rehearsal() {
#ifdef __GLIBC__
  mallopt(M_PERTURB, 0);
#endif
}

void Rehearsal::look_around(Agreement& outcome, bool thoroughly) const {
  std::string change =
      before_->change(thoroughly ? Surroundings::Depth::thorough : Surroundings::Depth::quick);
  if (change.empty()) return;
  before_->restore();
  outcome.reject(std::move(change));
}

void Rehearsal::take(Timed& timed, const Context& context, Fill fill, double seconds,
                     Agreement& outcome) const {
  // Checks beside a slice, such as those of memory and threads, take place in one of three.
  constexpr int fewest_of_short = 6;
  constexpr double slices_per_second = 2500, timed_slice = 1e-4, share = 1.0 / 80;
  const int most = std::max(5, static_cast<int>(seconds * slices_per_second));
  const double long_slice = std::min(timed_slice, share * seconds);
  // Integers that are updated again and again do not stay exact.
  const bool one_call = fill == Fill::exact && timed.updates_in_place();
  AuditedSlices slices(timed, context.threads, *before_, AuditedSlices::Judging::every);
  Index few = 1, many = 1;
  int least = 1;
  const auto start = Clock::now();
  for (int slice = 0; slice < most && slices.audit().fault.empty(); ++slice) {
    if (slice >= least && seconds_since(start) > seconds) break;
    // Some slices are as long as those that are timed, where there is time: a kernel may be right in its
    // first calls only.
    const AuditedSlices::Taken taken = slices.take(slice % 4 == 3 ? many : few, false);
    const double call = std::max(taken.seconds / static_cast<double>(taken.calls), 1e-7);
    if (slice == 0 && fewest_of_short * call < seconds) least = fewest_of_short;
    if (one_call) continue;
    few = std::clamp<Index>(static_cast<Index>(seconds / (2 * fewest_of_short * call)), 1, 4);
    many = std::max(few, static_cast<Index>(long_slice / call));
  }
  outcome.worst_error = std::max(outcome.worst_error, slices.worst_error());
  if (!slices.audit().fault.empty()) {
    outcome.reject("called again with a changed input: " + slices.audit().fault);
  }
}

}  // namespace assay::detail
