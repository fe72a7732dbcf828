/// A share estimated by counting.
#pragma once

#include "assay/interval.hpp"

#include <cstddef>

namespace assay {

/// hits / trials with the interval of Clopper and Pearson (1934), exact: it holds the true share at least as
/// often as asked. No trials leave [0, 1].
Interval proportion(std::size_t hits, std::size_t trials, double coverage = 0.95);

}  // namespace assay
