/// Epoch prediction: seconds of one training epoch implied by a suite and the times of its cases.
#pragma once

#include "assay/compare.hpp"
#include "assay/results.hpp"

#include <string>
#include <vector>

namespace assay {

/// What one case adds to an epoch.
struct Contribution {
  std::string key;  ///< of the trial whose time counts
  std::string note;
  double per_step = 0;
  Interval seconds;  ///< per call
  double seconds_per_step = 0;
  double share = 0;  ///< percent; the shares of a prediction sum to 100
};

/// What the interval of a predicted epoch was made from.
enum class IntervalSource {
  launches,  ///< the epochs of the single launches, each a sum over all cases: they share a launch's luck
  cases      ///< the sums of the lower and of the upper ends of the cases' intervals: wider than needed
};
std::string_view to_string(IntervalSource source);

/// Steps per epoch, times the sum over all counted cases of occurrences per step and seconds per call.
struct Prediction {
  std::string label;       ///< `naive`, `best of each case` or `baseline`
  std::string impossible;  ///< why there is no prediction; nothing below is set then
  Interval seconds;        ///< of one epoch
  IntervalSource source = IntervalSource::cases;
  std::size_t launches = 0;                 ///< fewest of any counted case
  std::vector<Contribution> contributions;  ///< largest first
  std::vector<std::string> left_out;        ///< what the number does not contain, or hides
};

/// Predictions from the naive variant of each case, from the fastest agreeing variant of each case, and,
/// given a baseline, from the fastest agreeing variant that it holds for the same cases. A counted case
/// without a measurement makes its prediction impossible, as do a suite outside any network, an
/// interrupted run, a single shard, and shards of different machines.
std::vector<Prediction> predict(const Results& results, const Results* baseline = nullptr);

}  // namespace assay
