/// The launches of both sides of a comparison, and the movement of witness rows in the same launches.
#pragma once

#include "assay/compare.hpp"

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

using TrialsByKey = std::map<std::string_view, const TrialResult*>;
TrialsByKey by_key(const std::vector<TrialResult>& trials);

/// One trial on one side: the logarithm of its time in every launch, NaN where it was not measured.
using Logs = std::vector<double>;

struct LoggedTrial {
  Logs logs;
  double usual = 0;  ///< median over the launches it was measured in
};

/// All launches of one or several recordings, one after the other.
struct Side {
  std::vector<std::size_t> recording;       ///< of each launch
  std::map<std::string, LoggedTrial> rows;  ///< by key; each as long as `recording`
};

/// Trials of `recordings` that are measured and have the same workload as the trial of that key in `current`.
///
/// The time of a launch is the lower quartile of its slices. Interruptions only add time, so low quantiles
/// spread less than the median; the minimum is a matter of luck again.
Side side_of(std::span<const Results* const> recordings, const Results& current);

/// Launches of both sides as logarithms of times relative to `witnesses`, those without a number left out.
struct Paired {
  std::vector<double> before, after;
  std::vector<std::size_t> recording;  ///< of each number in `before`
};

/// The rows to which others are related: the distance of each from its own usual time in every launch,
/// ascending. A launch lacks the rows that were not measured in it.
struct Witnesses {
  std::set<std::string> keys;
  std::vector<std::vector<double>> before, after;  ///< by launch

  /// The number of witnesses for a row; no row is its own witness.
  std::size_t beside(const std::string& key) const { return keys.size() - keys.count(key); }
};
Witnesses witnesses_of(const Side& before, const Side& after, std::set<std::string> keys);

/// The times of a row relative to its witnesses, without itself: in each launch, the median deviation of the
/// witnesses from their own usual time is subtracted. Drift that they share with the row cancels, between the
/// sides and from launch to launch. Without witnesses these are the times themselves.
Paired relative(const Side& before, const Side& after, const std::string& key, const Witnesses& witnesses);

/// Coverage of the intervals that standings rest on. A standing answers a one-sided question, so this is 95
/// % confidence; and with six launches on either side, one stray launch does not yet widen such an interval.
inline constexpr double standing_coverage = 0.9;

/// exp() of the shift between the sides.
Interval ratio_of(const Paired& paired, double coverage = standing_coverage);

/// Estimates how far launches of a side lie apart by themselves, as a standard deviation of the logarithm:
/// between the recordings when there are several, else between the launches before. Those after count only
/// where there is none before to tell: a regression that is noisy as well must not widen its own limit.
double spread_of(const Paired& paired);

}  // namespace assay
