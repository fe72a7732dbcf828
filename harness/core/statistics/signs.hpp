/// The sign test: how unlikely it is that so many samples lie above a limit, whatever their distribution.
#pragma once

#include <span>

namespace assay {

/// P(B >= count) of `samples` tosses of a coin that falls so with this chance.
double binomial_tail(int count, int samples, double chance);
/// The same of a fair coin.
double sign_tail(int count, int samples);

/// One-sided p-value of "the median is at most `limit`", from how many samples exceed it.
double p_above(std::span<const double> samples, double limit);
/// Returns the same chance for "the median is at least `limit`".
double p_below(std::span<const double> samples, double limit);

/// The smallest chance of a single sample to exceed the limit with which at least `count` of `samples` do so
/// in `power` of all cases: what a shift must reach to be seen.
double needed_chance(int count, int samples, double power);

/// The smallest count whose sign_tail() is at most `p`; more than `samples` when there is none.
int needed_count(int samples, double p);

}  // namespace assay
