/// Statistics for a few noisy samples: order statistics and rank intervals, nothing that assumes a
/// distribution, and the sign test and shares estimated by counting, exact for any. Pure functions. Every
/// sample is finite; every span holds at least one.
#pragma once

#include "assay/interval.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay {

/// The coverage that is asked for; Interval::coverage is the coverage that was reached.
inline constexpr double wanted_coverage = 0.95;

void sort_ascending(std::vector<double>& values);

/// The quantile for `probability` in [0, 1], interpolated linearly between order statistics (type 7 of
/// Hyndman and Fan 1996; the default of R and numpy).
double quantile(std::span<const double> samples, double probability);
double median(std::span<const double> samples);

/// 1.4826 times the median absolute deviation from the median: the standard deviation, were they normal.
double robust_deviation(std::span<const double> samples);

/// The chance that a standard normal number lies above `deviations`.
double normal_tail(double deviations);

/// P(T > t) of Student's distribution. With more than 200 degrees of freedom, that with 200.
double student_tail(double t, int freedom);
/// The t that is exceeded with chance `tail`, in (0, 0.5]. Below 1e-12 the digits of the tail run out.
double student_quantile(double tail, int freedom);

/// The median between two order statistics. The narrowest symmetric pair that reaches `coverage`, else the
/// extremes with the coverage these have: 0.75 for three samples, 0 for one. Binomial, exact.
Interval median_interval(std::span<const double> samples, double coverage = wanted_coverage);

/// Estimates how far `samples` lie from 0: Hodges and Lehmann's median of pairwise (Walsh) averages, with the
/// interval of Wilcoxon's signed-rank test. Exact for samples distributed symmetrically around their centre.
Interval centre(std::span<const double> samples, double coverage = wanted_coverage);

/// Estimates how far `after` lies above `before`: Hodges and Lehmann's median of all differences, with the
/// interval of the Mann-Whitney test. Exact up to 1,600 differences, by the normal approximation beyond.
Interval shift(std::span<const double> before, std::span<const double> after,
               double coverage = wanted_coverage);

/// The ratio whose logarithm `log` is, estimate and interval. Coverage and basis stay what they are, since
/// exp() keeps the order of samples.
Interval exponential(const Interval& log);

/// The logarithms of numerators[i] / denominators[i], as many as both have.
std::vector<double> log_ratios(std::span<const double> numerators, std::span<const double> denominators);

/// The centre of the ratios numerators[i] / denominators[i]. Influences that both of a pair share, such as
/// the luck of a launch, cancel.
Interval ratio_of_pairs(std::span<const double> numerators, std::span<const double> denominators);

/// median(numerator) / median(denominator) with a percentile bootstrap interval, for slices of one launch.
/// Samples that were taken in turns, as many on either side, are drawn as pairs, since neighbours share the
/// machine's mood. One sample on a side gives no interval: coverage 0.
Interval ratio_of_medians(std::span<const double> numerator, std::span<const double> denominator,
                          std::uint64_t seed, double coverage = wanted_coverage);

/// P(B >= count), B binomial with `samples` trials of this chance.
double binomial_tail(int count, int samples, double chance);
/// The same of a fair coin.
double sign_tail(int count, int samples);

/// Returns the one-sided p-value of "the median is at most `limit`", from the number of samples above it.
double p_above(std::span<const double> samples, double limit);
/// Returns the same chance for "the median is at least `limit`".
double p_below(std::span<const double> samples, double limit);

/// The smallest chance of a single sample to exceed the limit with which at least `count` of `samples` do so
/// in `power` of all cases. A shift must reach it to be seen.
double needed_chance(int count, int samples, double power);

/// The smallest count whose sign_tail() is at most `p`; more than `samples` when there is none.
int needed_count(int samples, double p);

/// hits / trials with the interval of Clopper and Pearson (1934), exact: it holds the true share at least as
/// often as asked. No trials leave [0, 1].
Interval proportion(std::size_t hits, std::size_t trials, double coverage = 0.95);

}  // namespace assay
