#include "assay/ops/loss_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace assay::training {

std::vector<double> smoothed(std::span<const float> losses, std::size_t window) {
  std::vector<double> out;
  for (std::size_t end = window; end <= losses.size(); ++end) {
    const auto part = losses.subspan(end - window, window);
    out.push_back(std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(window));
  }
  return out;
}

double largest_difference(std::span<const float> losses, std::span<const float> others, std::size_t window) {
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
