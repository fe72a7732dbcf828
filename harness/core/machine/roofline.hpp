// The decisions of measure_roof() that need no clock, such as the working sets, which follow from the caches.
#pragma once

#include "assay/machine.hpp"

#include <functional>
#include <string>
#include <vector>

namespace assay {

// A working set that the roof is measured with.
struct RoofLevel {
  std::string name;             // L1, L2, L3 or memory
  double bytes_per_thread = 0;  // to measure with
  double holds_bytes = 0;       // the largest working set of all threads together that this level serves
};

// By growing working set; `memory` is always there and comes last.
std::vector<RoofLevel> roof_levels(const Machine& machine, int threads);

// Returns how many calls take about `slice` seconds, found by doubling. Asks `seconds_of(calls)` three times
// for each number and takes the least answer: a call that was held up would make slices too short, and the
// measured rate of several threads half as large.
Index calls_per_slice(const std::function<double(Index calls)>& seconds_of, double slice);

// Keeps the larger of each figure, and the weather of `again` where one of its figures was larger.
void raise(Roof& roof, const Roof& again);

// The smallest level that holds so many bytes; null where none is known.
const Bandwidth* level_that_holds(const Roof& roof, double bytes);

}  // namespace assay
