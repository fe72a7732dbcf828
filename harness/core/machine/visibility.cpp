#include "core/machine/visibility.hpp"

#include "core/statistics/signs.hpp"
#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

// Returns a quantile of the distances from 0; 0 when there are none.
double quantile_of_magnitudes(std::vector<double> values, double probability) {
  if (values.empty()) return 0;
  for (double& value : values) value = std::abs(value);
  return quantile(values, std::clamp(probability, 0.0, 1.0));
}

}  // namespace

double smallest_visible_change(const std::vector<double>& deviations, const GateSketch& gate) {
  const double p = needed_chance(needed_count(gate.groups, gate.level), gate.groups, gate.power);
  return std::expm1(std::log1p(gate.margin) + quantile_of_magnitudes(deviations, 2 * p - 1));
}

double spread_of(const std::vector<double>& deviations) {
  return std::expm1(quantile_of_magnitudes(deviations, 0.95));
}

}  // namespace assay
