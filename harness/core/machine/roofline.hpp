// The decisions of measure_roof() that need no clock.
#pragma once

#include "assay/machine.hpp"

#include <functional>

namespace assay {

// Returns how many calls take about `slice` seconds, found by doubling. `seconds_of(calls)` is asked three
// times for each number and its least answer counts: one call that was held up would make slices so short
// that their beginning is most of them, and what threads do together is halved.
Index calls_per_slice(const std::function<double(Index calls)>& seconds_of, double slice);

// Keeps the larger of each figure, and the weather of `again` where one of its figures was larger.
void raise(Roof& roof, const Roof& again);

// The smallest level that holds so many bytes; null where none is known.
const Bandwidth* level_that_holds(const Roof& roof, double bytes);

}  // namespace assay
