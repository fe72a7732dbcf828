/// Ratios of times drawn with letters, for places that have no pictures.
#pragma once

#include "assay/interval.hpp"

#include <string>
#include <vector>

namespace assay {

struct PlottedRatio {
  std::string name;
  Interval ratio;  ///< time now / time before
};

/// Lines of at most 80 columns: a scale of ratios, logarithmic and around 1, then a line for each row. Ends
/// beyond a factor of two are arrows. Empty without rows that have an interval.
std::vector<std::string> interval_plot(const std::vector<PlottedRatio>& rows);

}  // namespace assay
