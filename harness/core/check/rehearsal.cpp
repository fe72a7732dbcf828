// A few slices of calls at the end of a check, as they are timed later.

#include "assay/detail/typed.hpp"
#include "core/check/slice.hpp"

#include <algorithm>
#include <chrono>

namespace assay::detail {

Rehearsal::Rehearsal() : before_(std::make_unique<const Surroundings>(Surroundings::now())) {}

Rehearsal::~Rehearsal() = default;

void Rehearsal::look_around(Agreement& outcome) const {
  std::string change = before_->change();
  if (change.empty()) return;
  before_->restore();
  blame(outcome, std::move(change));
}

void Rehearsal::take(Timed& timed, const Context& context, Fill fill, Agreement& outcome) const {
  constexpr int most_slices = 5, fewest = 2;
  constexpr std::chrono::milliseconds enough{2};
  // Integers that are updated again and again do not stay exact.
  const Index most_calls = fill == Fill::exact && timed.updates_in_place() ? 1 : 8;
  AuditedSlices slices(timed, context.threads, *before_, AuditedSlices::Judging::every);
  const auto start = std::chrono::steady_clock::now();
  for (int slice = 0; slice < most_slices && slices.audit().fault.empty(); ++slice) {
    if (slice >= fewest && std::chrono::steady_clock::now() - start > enough) break;
    slices.take(most_calls, false);
  }
  outcome.worst_error = std::max(outcome.worst_error, slices.worst_error());
  if (!slices.audit().fault.empty()) {
    blame(outcome, "called again with a changed input: " + slices.audit().fault);
  }
}

}  // namespace assay::detail
