/// Trials above the roof: each is measured again alone, with every slice judged, before its roof is doubted.
#pragma once

#include "assay/measure.hpp"
#include "assay/results.hpp"

namespace assay {

/// They keep the samples that they have alone, and their remarks say how far above they were.
void measure_suspects_alone(Results& results, const MeasurePolicy& policy, const Sample& sample,
                            const Hooks& hooks);

}  // namespace assay
