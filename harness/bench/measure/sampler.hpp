/// Runs bursts of calls in mixed order, and decides how many calls make a burst. Google Benchmark does the
/// running and counting; no other file knows it.
#pragma once

#include "assay/measure.hpp"
#include "assay/operation.hpp"
#include "core/check/contained.hpp"
#include "core/check/slice.hpp"

#include <vector>

namespace assay {

/// One trial ready to be sampled: `slices` slices of `calls` calls each.
struct Burst {
  AuditedSlices* trial = nullptr;
  Index calls = 1;
  int slices = 1;
  bool warm_up = true;   ///< one untimed call before each slice, since another trial ran just before
  std::size_t step = 0;  ///< that is reported while it runs
  double limit_seconds = 0;
  FigureValues* figures = nullptr;  ///< receives those of the slices
};

/// The same per call.
Slice slice_of(const AuditedSlices::Taken& taken);

/// The slices of each burst, in the order they ran. All slices of all bursts are shuffled together. Slices
/// that an interrupt prevented are left out.
std::vector<Launch> sample_mixed(const std::vector<Burst>& bursts, const Hooks& hooks,
                                 const StepReporter& reporter = StepReporter{});

/// Wall time of `calls` calls in a row.
double seconds_for(Timed& timed, Index calls);

/// Seconds per call, from bursts that double until one lasts a quarter of a slice; their first calls fault in
/// pages and warm the caches. `first_call` is what the first one took.
double calibrated(Timed& timed, double first_call, double slice_seconds);

/// Seconds that it takes to give an input other content.
double renewal_seconds(Timed& timed);

/// Calls that last a slice, with what is done before each of them: at least one.
Index calls_per_slice(double seconds, double slice_seconds);

}  // namespace assay
