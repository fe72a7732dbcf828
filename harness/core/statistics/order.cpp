// Quantiles and the robust deviation.
#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace assay {
namespace {

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> out(samples.begin(), samples.end());
  sort_ascending(out);
  return out;
}

double quantile_of_sorted(std::span<const double> samples, double probability) {
  const double position = probability * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] + (position - static_cast<double>(below)) * (samples[above] - samples[below]);
}

}  // namespace

// A comparison of this file alone makes a sort of this file alone. Sanitized tests spend most of their time
// in it, and the linker may take one that files share from a file that was not optimized.
void sort_ascending(std::vector<double>& values) {
  std::sort(values.begin(), values.end(), [](double a, double b) { return a < b; });
}

double quantile(std::span<const double> samples, double probability) {
  assert(!samples.empty() && probability >= 0 && probability <= 1);
  return quantile_of_sorted(sorted(samples), probability);
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

double robust_deviation(std::span<const double> samples) {
  const double middle = median(samples);
  std::vector<double> distance;
  for (const double x : samples) distance.push_back(std::abs(x - middle));
  // 1 / the upper quartile of the standard normal distribution.
  return 1.4826022185056018 * median(distance);
}

}  // namespace assay
