/// Epoch prediction: seconds of one training epoch implied by a suite and the times of its cases.
#pragma once

#include "assay/compare.hpp"
#include "assay/results.hpp"

#include <string>
#include <vector>

namespace assay {

/// The time that one case adds to an epoch.
struct Contribution {
  std::string key;  ///< of the trial whose time counts
  std::string note;
  double per_step = 0;
  Interval seconds;  ///< per call
  double seconds_per_step = 0;
  double share = 0;  ///< percent; the shares of a prediction sum to 100
};

/// The numbers that the interval of a predicted epoch was made from.
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
  double steps_per_epoch = 0;
  IntervalSource source = IntervalSource::cases;
  std::size_t launches = 0;                 ///< fewest of any counted case
  std::vector<Contribution> contributions;  ///< largest first
  std::vector<std::string> left_out;        ///< parts of an epoch that the number does not contain, or hides
};

/// Predictions from the naive variant of each case, from the fastest agreeing variant of each case, and,
/// given a baseline, from the fastest agreeing variant that it holds for the same cases. A counted case
/// without a measurement makes its prediction impossible, as do a suite outside any network, an
/// interrupted run, a single shard, and shards of different machines.
std::vector<Prediction> predict(const Results& results, const Results* baseline = nullptr);

/// The effect of the fastest variants of one operation on an epoch whose other operations stay naive:
/// Amdahl's law with shares that were measured, 1 / (1 - p + p / s), and its limit 1 / (1 - p), launch by
/// launch.
struct OperationEffect {
  std::string operation;
  double share = 0;       ///< p: percent of the naive epoch, the mean of the launches
  Interval speedup;       ///< s: naive seconds of its cases by those of their fastest variants
  Interval epoch;         ///< the naive epoch by one in which this operation alone is replaced
  double limit = 1;       ///< of `epoch`, were the operation to take no time
  double share_left = 0;  ///< percent of the epoch made of the fastest variants
  double limit_left = 1;  ///< of what more work on the operation could bring there
};

/// The effects of single operations beside that of all, which is neither their sum nor their product.
struct Composition {
  std::string impossible;                ///< why there is none; nothing below is set then
  std::vector<OperationEffect> effects;  ///< largest effect first
  Interval together;                     ///< the naive epoch by that of the fastest variants
};

/// Composes the first two predictions of `predict(results)`. Intervals are those of the ratios of single
/// launches; where a case is missing from some launch, ratios of the medians without an interval (coverage
/// 0).
Composition composition(const Results& results, const std::vector<Prediction>& predictions);

}  // namespace assay
