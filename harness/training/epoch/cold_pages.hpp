/// The price that an epoch pays for beginning with its records on the disk.
#pragma once

#include "assay/interval.hpp"
#include "training/job/job.hpp"

#include <optional>

namespace assay {

/// Batches that miss pages take longer, and each that is read leaves fewer pages missing: its own, and those
/// that the kernel read around them. After a batch exp(-rate) of the pages are missing that were missing
/// before it.
struct ColdPages {
  Interval extra;   ///< seconds that making a batch takes longer while no page is in memory
  double rate = 0;  ///< 0: nothing read is of use later
};

/// Estimates cold pages from runs that began cold and runs with their pages in memory: windows of both kinds,
/// where the cold ones say how many pages were in memory before and after, and times of making their batches.
/// Nothing without these.
std::optional<ColdPages> cold_pages_of(const Job& job);

}  // namespace assay
