// A few slices of calls at the end of a check, as they are timed later.

#include "core/check/slice.hpp"
#include "core/machine/clock.hpp"
#include "core/registry/workload.hpp"

#include <malloc.h>

#include <algorithm>
#include <chrono>

namespace assay::detail {

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

void Rehearsal::look_around(Agreement& outcome) const {
  std::string change = before_->change();
  if (change.empty()) return;
  before_->restore();
  blame(outcome, std::move(change));
}

void Rehearsal::take(Timed& timed, const Context& context, Fill fill, double seconds,
                     Agreement& outcome) const {
  using Clock = std::chrono::steady_clock;
  // Checks beside a slice, such as those of memory and threads, take place in one of three.
  constexpr int fewest_of_short = 6;
  constexpr double slices_per_second = 2500, seconds_of_slice = 1e-4;
  const int most = std::max(5, static_cast<int>(seconds * slices_per_second));
  // Integers that are updated again and again do not stay exact.
  const bool one_call = fill == Fill::exact && timed.updates_in_place();
  AuditedSlices slices(timed, context.threads, *before_, AuditedSlices::Judging::every);
  Index few = 1, many = 1;
  int least = 1;
  const auto start = Clock::now();
  for (int slice = 0; slice < most && slices.audit().fault.empty(); ++slice) {
    if (slice >= least && seconds_since(start) > seconds) break;
    // Some slices are as long as those that are timed: a kernel may be right in its first calls only.
    const AuditedSlices::Taken taken = slices.take(slice % 4 == 3 ? many : few, false);
    const double call = std::max(taken.seconds / static_cast<double>(taken.calls), 1e-7);
    if (slice == 0 && fewest_of_short * call < seconds) least = fewest_of_short;
    if (one_call) continue;
    few = std::clamp<Index>(static_cast<Index>(seconds / (fewest_of_short * call)), 1, 8);
    many = std::max(few, static_cast<Index>(seconds_of_slice / call));
  }
  outcome.worst_error = std::max(outcome.worst_error, slices.worst_error());
  if (!slices.audit().fault.empty()) {
    blame(outcome, "called again with a changed input: " + slices.audit().fault);
  }
}

}  // namespace assay::detail
