// Losses of whole trainings, compared.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace assay::training {

/// The mean of each `window` losses in a row, from the first on; empty for fewer.
inline std::vector<double> smoothed(std::span<const float> losses, std::size_t window) {
  std::vector<double> out;
  for (std::size_t end = window; end <= losses.size(); ++end) {
    const auto part = losses.subspan(end - window, window);
    out.push_back(std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(window));
  }
  return out;
}

/// The largest difference of two smoothed curves, relative to the lower of both at that place: how far apart
/// two trainings on the same batches came. Infinite where a loss is NaN or the lengths differ, 0 for fewer
/// losses than the window.
///
/// Two right implementations do not stay together bit by bit. Their gradients differ by rounding, about 1e-6
/// of their size, and a step of AdamW turns that into a like difference of parameters, but a whole step of
/// lr where a gradient is nothing but rounding. From there on the difference grows with the curvature of the
/// loss, by a factor per step above or below 1 that no bound knows beforehand. So the
/// limit for two right ones is empirical: the test that measures it states it, with its margins to the
/// measured difference and to that of a wrong one. The window averages over batches, which differ in
/// difficulty.
inline double largest_difference(std::span<const float> losses, std::span<const float> others,
                                 std::size_t window) {
  const std::vector<double> a = smoothed(losses, window), b = smoothed(others, window);
  if (losses.size() != others.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]) / std::min(a[i], b[i]);
    // Not std::max, which drops a NaN.
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

}  // namespace assay::training
