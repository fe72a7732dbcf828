#include "core/statistics/signs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace assay {
namespace {

int count_of(std::span<const double> samples, const std::function<bool(double)>& counts) {
  return static_cast<int>(std::ranges::count_if(samples, counts));
}

}  // namespace

double binomial_tail(int count, int samples, double chance) {
  if (count <= 0 || chance >= 1) return count <= samples ? 1 : 0;
  double tail = 0;
  for (int k = count; chance > 0 && k <= samples; ++k) {
    // Logarithms, since the coefficient overflows long before the product matters.
    const double log_choose =
        std::lgamma(samples + 1.0) - std::lgamma(k + 1.0) - std::lgamma(samples - k + 1.0);
    tail += std::exp(log_choose + k * std::log(chance) + (samples - k) * std::log1p(-chance));
  }
  return std::min(tail, 1.0);
}

double sign_tail(int count, int samples) { return binomial_tail(count, samples, 0.5); }

double p_above(std::span<const double> samples, double limit) {
  return sign_tail(count_of(samples, [&](double x) { return x > limit; }), static_cast<int>(samples.size()));
}

double p_below(std::span<const double> samples, double limit) {
  return sign_tail(count_of(samples, [&](double x) { return x < limit; }), static_cast<int>(samples.size()));
}

double needed_chance(int count, int samples, double power) {
  if (count > samples) return 1;
  double low = 0, high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (binomial_tail(count, samples, middle) < power ? low : high) = middle;
  }
  return high;
}

int needed_count(int samples, double p) {
  int count = samples + 1;
  while (count > 0 && sign_tail(count - 1, samples) <= p) --count;
  return count;
}

// The upper end is the share with which `hits` or fewer come up in (1 - coverage) / 2 of all cases, the lower
// end that with which `hits` or more do: both are shares that needed_chance() solves for.
Interval proportion(std::size_t hits, std::size_t trials, double coverage) {
  if (trials == 0) return {0, 0, 1, coverage};
  const double tail = (1 - coverage) / 2;
  const auto k = static_cast<int>(hits), n = static_cast<int>(trials);
  const double low = hits == 0 ? 0 : needed_chance(k, n, tail);
  const double high = hits == trials ? 1 : needed_chance(k + 1, n, 1 - tail);
  return {low, static_cast<double>(hits) / static_cast<double>(trials), high, coverage};
}

}  // namespace assay
