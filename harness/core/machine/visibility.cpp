#include "core/machine/visibility.hpp"

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

double upper_tail(int trials, int successes, double probability) {
  if (successes <= 0 || probability >= 1) return successes <= trials ? 1 : 0;
  if (probability <= 0) return 0;
  double sum = 0;
  for (int k = successes; k <= trials; ++k) {
    // Logarithms, since the coefficient overflows long before the product matters.
    const double log_ways = std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0);
    sum += std::exp(log_ways + k * std::log(probability) + (trials - k) * std::log1p(-probability));
  }
  return std::min(1.0, sum);
}

int least_successes(int trials, double level) {
  int successes = trials + 1;
  while (successes > 0 && upper_tail(trials, successes - 1, 0.5) <= level) --successes;
  return successes;
}

double needed_probability(int trials, int successes, double power) {
  double low = 0, high = 1;
  // Sixty halvings exhaust the precision of a double between 0 and 1.
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (upper_tail(trials, successes, middle) >= power ? high : low) = middle;
  }
  return high;
}

double smallest_visible_change(const std::vector<double>& deviations, const GateSketch& gate) {
  const int successes = least_successes(gate.groups, gate.level);
  const double p = needed_probability(gate.groups, successes, gate.power);
  return std::expm1(std::log1p(gate.margin) + quantile_of_magnitudes(deviations, 2 * p - 1));
}

double spread_of(const std::vector<double>& deviations) {
  return std::expm1(quantile_of_magnitudes(deviations, 0.95));
}

}  // namespace assay
