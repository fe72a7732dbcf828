// The median and Hodges-Lehmann estimates, with the intervals of the tests they come from.
#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace assay {
namespace {

/// More differences than this are left to the normal approximation: the exact distribution takes time that
/// grows with their square, and the two differ by less than 0.001 in coverage there.
constexpr std::size_t exact_limit = 1600;

/// P(B = b), how many of n samples lie below their true median: a fair coin each.
std::vector<double> sign_distribution(std::size_t n) {
  std::vector<double> probability(n + 1);
  probability[0] = 1;
  for (std::size_t sample = 1; sample <= n; ++sample) {
    for (std::size_t b = sample + 1; b-- > 0;) {
      probability[b] = (probability[b] + (b > 0 ? probability[b - 1] : 0)) / 2;
    }
  }
  return probability;
}

/// P(W = w) of Wilcoxon's signed-rank statistic for n samples: each rank counts or not, a fair coin each.
std::vector<double> signed_rank_distribution(std::size_t n) {
  std::vector<double> probability(n * (n + 1) / 2 + 1);
  probability[0] = 1;
  std::size_t largest = 0;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    largest += rank;
    for (std::size_t w = largest + 1; w-- > 0;) {
      const double with = w >= rank ? probability[w - rank] : 0;
      probability[w] = (probability[w] + with) / 2;
    }
  }
  return probability;
}

/// P(U = u) of the Mann-Whitney statistic for m and n samples. The largest of all samples is one of the m
/// with chance m / (m + n), and then lies above all n others.
std::vector<double> mann_whitney_distribution(std::size_t m, std::size_t n) {
  std::vector<std::vector<double>> previous(n + 1), current(n + 1);
  for (std::size_t j = 0; j <= n; ++j) previous[j] = {1};
  for (std::size_t i = 1; i <= m; ++i) {
    current[0] = {1};
    for (std::size_t j = 1; j <= n; ++j) {
      current[j].assign(i * j + 1, 0);
      const auto total = static_cast<double>(i + j);
      const double from_first = static_cast<double>(i) / total, from_second = static_cast<double>(j) / total;
      for (std::size_t u = 0; u < previous[j].size(); ++u) current[j][u + j] += from_first * previous[j][u];
      for (std::size_t u = 0; u < current[j - 1].size(); ++u)
        current[j][u] += from_second * current[j - 1][u];
    }
    std::swap(previous, current);
  }
  return previous[n];
}

/// The k-th smallest and k-th largest of `values` enclose the true centre unless the statistic falls below k
/// on either side; `below(k)` is the chance of that on one side. Largest k that keeps `coverage`, else 1.
template <class Below>
Interval enclosed(std::vector<double> values, const Below& below, double coverage) {
  sort_ascending(values);
  std::size_t k = 1;
  while (2 * (k + 1) <= values.size() + 1 && 1 - 2 * below(k + 1) >= coverage) ++k;
  const std::size_t half = values.size() / 2;
  const double middle = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {values[k - 1], middle, values[values.size() - k], std::max(0.0, 1 - 2 * below(k))};
}

std::vector<double> cumulative(std::vector<double> probability) {
  for (std::size_t i = 1; i < probability.size(); ++i) probability[i] += probability[i - 1];
  return probability;
}

}  // namespace

Interval median_interval(std::span<const double> samples, double coverage) {
  assert(!samples.empty());
  const auto chance = cumulative(sign_distribution(samples.size()));
  return enclosed(
      {samples.begin(), samples.end()}, [&](std::size_t k) { return chance[k - 1]; }, coverage);
}

Interval centre(std::span<const double> samples, double coverage) {
  assert(!samples.empty());
  std::vector<double> averages;
  averages.reserve(samples.size() * (samples.size() + 1) / 2);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t j = i; j < samples.size(); ++j) averages.push_back((samples[i] + samples[j]) / 2);
  }
  const auto chance = cumulative(signed_rank_distribution(samples.size()));
  return enclosed(
      std::move(averages), [&](std::size_t k) { return chance[k - 1]; }, coverage);
}

Interval shift(std::span<const double> before, std::span<const double> after, double coverage) {
  assert(!before.empty() && !after.empty());
  std::vector<double> differences;
  differences.reserve(before.size() * after.size());
  for (const double a : after) {
    for (const double b : before) differences.push_back(a - b);
  }
  if (differences.size() <= exact_limit) {
    const auto chance = cumulative(mann_whitney_distribution(before.size(), after.size()));
    return enclosed(
        std::move(differences), [&](std::size_t k) { return chance[k - 1]; }, coverage);
  }
  const auto m = static_cast<double>(before.size()), n = static_cast<double>(after.size());
  const double deviation = std::sqrt(m * n * (m + n + 1) / 12);
  const auto below = [&](std::size_t k) {
    // P(U <= k - 1) with the continuity correction.
    return 0.5 * std::erfc((m * n / 2 - static_cast<double>(k) + 0.5) / deviation / std::sqrt(2.0));
  };
  return enclosed(std::move(differences), below, coverage);
}

Interval exponential(const Interval& log) {
  return {std::exp(log.low), std::exp(log.middle), std::exp(log.high), log.coverage, log.basis};
}

Interval ratio_of_pairs(std::span<const double> numerators, std::span<const double> denominators) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < numerators.size(); ++i)
    logs.push_back(std::log(numerators[i] / denominators[i]));
  return exponential(centre(logs));
}

}  // namespace assay
