/// Trials of two builds that are faster than any kernel can be.
#pragma once

#include "assay/registry.hpp"
#include "bench/gate/two_builds.hpp"

#include <functional>
#include <vector>

namespace assay {

/// Measures the roof of one thread, which says what more of them can do at most.
using MeasureRoof = std::function<Roof()>;
MeasureRoof roof_of_one_thread(const Machine& machine);

/// Leaves the trials out of which a side is faster than floor_of(): impossible where that is the head, not
/// comparable where it is the base. Ratios need no roof, so that it is measured only where a time is short
/// enough to ask for it, into `roofs`, and again as long as a trial lies below its floor; what is there from
/// a gate before is kept.
void leave_out_impossible(TwoBuilds& run, std::vector<Roof>& roofs, const Registry& registry,
                          const MeasureRoof& measure);

}  // namespace assay
