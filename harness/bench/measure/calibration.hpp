/// Measures how long a call takes, and decides how many calls make a slice.
#pragma once

#include "assay/operation.hpp"

namespace assay {

/// Wall time of `calls` calls in a row.
double seconds_for(Timed& timed, Index calls);

/// Seconds per call, from bursts that double until one lasts a quarter of a slice; their first calls fault in
/// pages and warm the caches. `first_call` is what the first one took.
double calibrated(Timed& timed, double first_call, double slice_seconds);

/// Calls that last a slice: at least one.
Index calls_per_slice(double call_seconds, double slice_seconds);

}  // namespace assay
