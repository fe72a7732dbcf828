// The working sets that the roof is measured with, derived from the caches.
#pragma once

#include "assay/machine.hpp"

#include <string>
#include <vector>

namespace assay {

struct RoofLevel {
  std::string name;             // L1, L2, L3 or memory
  double bytes_per_thread = 0;  // to measure with
  double holds_bytes = 0;       // the largest working set of all threads together that this level serves
};

// By growing working set; `memory` is always there and comes last.
std::vector<RoofLevel> roof_levels(const Machine& machine, int threads);

}  // namespace assay
