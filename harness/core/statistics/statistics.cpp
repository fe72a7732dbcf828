#include "core/statistics/statistics.hpp"

#include "assay/random.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace assay {
namespace {

/// More differences than this are left to the normal approximation: the exact distribution takes time that
/// grows with their square, and the two differ by less than 0.001 in coverage there.
constexpr std::size_t exact_limit = 1600;

/// P(S = s) of a sum in which each weight counts by a fair coin. With weights of 1 it is how many samples lie
/// below their true median; with ranks of samples, from 1 on, Wilcoxon's signed-rank statistic.
std::vector<double> coin_distribution(const std::vector<std::size_t>& weights) {
  std::vector<double> probability{1};
  for (const std::size_t weight : weights) {
    probability.resize(probability.size() + weight);
    for (std::size_t s = probability.size(); s-- > 0;) {
      const double with = s >= weight ? probability[s - weight] : 0;
      probability[s] = (probability[s] + with) / 2;
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

/// P(S < k) of a distribution.
auto chance_below(std::vector<double> probability) {
  std::partial_sum(probability.begin(), probability.end(), probability.begin());
  return [chance = std::move(probability)](std::size_t k) { return chance[k - 1]; };
}

/// The most degrees of freedom that are told apart: with more, the distribution is wider than it should be by
/// less than 3 % in any quantile used here, and the series stays short.
constexpr int most_freedom = 200;

/// P(-t < T < t) for t >= 0 and whole degrees of freedom, by the finite series of Abramowitz and Stegun
/// (1964), 26.7.3 and 26.7.4.
double within(double t, int freedom) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(freedom)));
  const double sine = std::sin(theta), cosine = std::cos(theta), square = cosine * cosine;
  const bool odd = freedom % 2 != 0;
  double sum = 0, term = odd ? cosine : 1;
  for (int k = odd ? 3 : 2; k <= freedom; k += 2) {
    sum += term;
    term *= square * (k - 1) / k;
  }
  return odd ? 2 / std::numbers::pi * (theta + sine * sum) : sine * sum;
}

template <class Counts>
double tail_of(std::span<const double> samples, const Counts& counts) {
  return sign_tail(static_cast<int>(std::ranges::count_if(samples, counts)),
                   static_cast<int>(samples.size()));
}

/// Samples evenly by rank, at most as many as pairs of them have room. Their intervals are the wider.
std::vector<double> thinned(std::span<const double> samples) {
  constexpr std::size_t most = 2000;
  std::vector<double> sorted(samples.begin(), samples.end());
  if (sorted.size() <= most) return sorted;
  sort_ascending(sorted);
  for (std::size_t i = 0; i < most; ++i) sorted[i] = sorted[(2 * i + 1) * sorted.size() / (2 * most)];
  sorted.resize(most);
  return sorted;
}

}  // namespace

// A comparison of this file alone makes a sort of this file alone. Sanitized tests spend most of their time
// in it, and the linker may take one that files share from a file that was not optimized.
void sort_ascending(std::vector<double>& values) {
  std::sort(values.begin(), values.end(), [](double a, double b) { return a < b; });
}

double quantile(std::span<const double> samples, double probability) {
  assert(!samples.empty() && probability >= 0 && probability <= 1);
  std::vector<double> sorted(samples.begin(), samples.end());
  sort_ascending(sorted);
  const double position = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

double robust_deviation(std::span<const double> samples) {
  const double middle = median(samples);
  std::vector<double> distance;
  for (const double x : samples) distance.push_back(std::abs(x - middle));
  // 1 / the upper quartile of the standard normal distribution.
  return 1.4826022185056018 * median(distance);
}

Interval median_interval(std::span<const double> samples, double coverage) {
  assert(!samples.empty());
  return enclosed({samples.begin(), samples.end()},
                  chance_below(coin_distribution(std::vector<std::size_t>(samples.size(), 1))), coverage);
}

Interval centre(std::span<const double> all, double coverage) {
  assert(!all.empty());
  const std::vector<double> samples = thinned(all);
  std::vector<double> averages;
  averages.reserve(samples.size() * (samples.size() + 1) / 2);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t j = i; j < samples.size(); ++j) averages.push_back((samples[i] + samples[j]) / 2);
  }
  std::vector<std::size_t> ranks(samples.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{1});
  return enclosed(std::move(averages), chance_below(coin_distribution(ranks)), coverage);
}

Interval shift(std::span<const double> all_before, std::span<const double> all_after, double coverage) {
  assert(!all_before.empty() && !all_after.empty());
  const std::vector<double> before = thinned(all_before), after = thinned(all_after);
  std::vector<double> differences;
  differences.reserve(before.size() * after.size());
  for (const double a : after) {
    for (const double b : before) differences.push_back(a - b);
  }
  if (differences.size() <= exact_limit) {
    return enclosed(std::move(differences),
                    chance_below(mann_whitney_distribution(before.size(), after.size())), coverage);
  }
  const auto m = static_cast<double>(before.size()), n = static_cast<double>(after.size());
  const double deviation = std::sqrt(m * n * (m + n + 1) / 12);
  const auto below = [&](std::size_t k) {
    // P(U <= k - 1) with the continuity correction.
    return normal_tail((m * n / 2 - static_cast<double>(k) + 0.5) / deviation);
  };
  return enclosed(std::move(differences), below, coverage);
}

Interval exponential(const Interval& log) {
  return {std::exp(log.low), std::exp(log.middle), std::exp(log.high), log.coverage, log.basis};
}

std::vector<double> log_ratios(std::span<const double> numerators, std::span<const double> denominators) {
  std::vector<double> out;
  for (std::size_t i = 0; i < std::min(numerators.size(), denominators.size()); ++i)
    out.push_back(std::log(numerators[i] / denominators[i]));
  return out;
}

Interval ratio_of_pairs(std::span<const double> numerators, std::span<const double> denominators) {
  return exponential(centre(log_ratios(numerators, denominators)));
}

double normal_tail(double deviations) { return std::erfc(deviations / std::sqrt(2.0)) / 2; }

double student_tail(double t, int freedom) {
  assert(freedom >= 1);
  const double outside = (1 - within(std::abs(t), std::min(freedom, most_freedom))) / 2;
  return t >= 0 ? outside : 1 - outside;
}

double student_quantile(double tail, int freedom) {
  assert(tail > 0 && tail <= 0.5);
  double low = 0, high = 1;
  for (; student_tail(high, freedom) > tail; high *= 2) low = high;
  while (high - low > 1e-9 * high) {
    const double middle = (low + high) / 2;
    (student_tail(middle, freedom) > tail ? low : high) = middle;
  }
  return high;
}

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
  return tail_of(samples, [&](double x) { return x > limit; });
}

double p_below(std::span<const double> samples, double limit) {
  return tail_of(samples, [&](double x) { return x < limit; });
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

// The interval of last resort, where only slices of one launch exist.
Interval ratio_of_medians(std::span<const double> numerator, std::span<const double> denominator,
                          std::uint64_t seed, double coverage) {
  assert(!numerator.empty() && !denominator.empty());
  // Percentiles at 2.5 % rest on 25 of these on either side, enough for the two or three digits shown.
  constexpr std::size_t draws = 1000;
  const double estimate = median(numerator) / median(denominator);
  if (numerator.size() < 2 || denominator.size() < 2) return {estimate, estimate, estimate, 0, Basis::slices};

  const bool paired = numerator.size() == denominator.size();
  Rng rng(seed);
  const auto draw = [&](std::size_t count) {
    return static_cast<std::size_t>(rng.integer(0, static_cast<Index>(count) - 1));
  };
  std::vector<double> ratios, top(numerator.size()), bottom(denominator.size());
  for (std::size_t round = 0; round < draws; ++round) {
    for (std::size_t i = 0; i < top.size(); ++i) {
      const std::size_t from = draw(top.size());
      top[i] = numerator[from];
      if (paired) bottom[i] = denominator[from];
    }
    if (!paired) {
      for (double& x : bottom) x = denominator[draw(bottom.size())];
    }
    ratios.push_back(median(top) / median(bottom));
  }
  const double tail = (1 - coverage) / 2;
  return {quantile(ratios, tail), estimate, quantile(ratios, 1 - tail), coverage, Basis::slices};
}

}  // namespace assay
