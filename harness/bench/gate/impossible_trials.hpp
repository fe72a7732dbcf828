/// Finds trials of two builds that are faster than any kernel can be.
#pragma once

#include "assay/registry.hpp"
#include "bench/gate/two_builds.hpp"

#include <functional>
#include <vector>

namespace assay {

/// Measures the roof of one thread, which says what more of them can do at most.
using MeasureRoof = std::function<Roof()>;
MeasureRoof roof_of_one_thread(const Machine& machine);

/// Leaves out trials of which a side is faster than floor_of(): impossible if it is the head, not comparable
/// if it is the base. Ratios need no roof, so that it is measured, into `roofs`, only if a time is
/// suspiciously short, and again as long as a trial lies below its floor. Roofs from an earlier gate are
/// kept.
void leave_out_impossible(TwoBuilds& run, std::vector<Roof>& roofs, const Registry& registry,
                          const MeasureRoof& measure);

}  // namespace assay
