/// The sign test, and shares estimated by counting: exact, for any distribution.
#pragma once

#include "assay/interval.hpp"

#include <cstddef>
#include <span>

namespace assay {

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
