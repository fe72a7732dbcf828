#include "training/epoch/forecast.hpp"

#include "training/epoch/spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {

double beyond(const Interval& predicted, double measured) {
  // An end at 0 or below is one that nothing lies beyond.
  const double below =
      predicted.low > 0 ? std::log(predicted.low / measured) : -std::numeric_limits<double>::infinity();
  return std::max(below, std::log(measured / predicted.high));
}

Experience experience(const Interval& predicted, std::vector<double> earlier) {
  Experience out{.epochs = earlier.size(), .seconds = {predicted.middle, predicted.middle, predicted.middle}};
  const auto rank =
      static_cast<std::size_t>(std::ceil(predicted_coverage * static_cast<double>(earlier.size() + 1)));
  if (rank > earlier.size()) return out;
  const auto last = earlier.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::ranges::nth_element(earlier, last);
  const double factor = std::exp(*last);
  out.seconds.low = predicted.low > 0 ? std::min(predicted.low / factor, predicted.middle) : predicted.low;
  out.seconds.high = std::max(predicted.high * factor, predicted.middle);
  out.seconds.coverage = predicted_coverage;
  return out;
}

}  // namespace assay
