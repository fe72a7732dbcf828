// Computes what each operation's speed-up is worth in an epoch, from the shares that were measured.
#include "bench/report/content.hpp"
#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

namespace assay {
namespace {

/// Seconds of a step by operation: one number for each launch, or a single one made of medians.
using Steps = std::map<std::string, std::vector<double>>;

const TrialResult& trial_named(const Results& results, const std::string& key) {
  return *std::ranges::find(results.trials, key, &TrialResult::key);
}

bool of_launches(const Prediction& one) { return one.source == IntervalSource::launches; }

Steps steps_of(const Results& results, const Prediction& prediction, bool by_launch) {
  Steps out;
  for (const Contribution& part : prediction.contributions) {
    const TrialResult& trial = trial_named(results, part.key);
    std::vector<double>& sums = out[trial.operation];
    sums.resize(by_launch ? prediction.launches : 1);
    add_launches(sums, trial, part.per_step);
  }
  return out;
}

std::vector<double> sum_of(const Steps& steps) {
  std::vector<double> out(steps.begin()->second.size());
  for (const auto& [operation, seconds] : steps) {
    std::ranges::transform(out, seconds, out.begin(), std::plus{});
  }
  return out;
}

/// Returns the time of all steps / the same without `seconds`. It is computed launch by launch, as `epoch`
/// is, so that no effect exceeds its limit. Infinite where no time remains.
double limit_of(const std::vector<double>& all, const std::vector<double>& seconds) {
  std::vector<double> others = all;
  std::ranges::transform(others, seconds, others.begin(), std::minus{});
  if (std::ranges::min(others) <= 0) return std::numeric_limits<double>::infinity();
  return ratio_of_pairs(all, others).middle;
}

/// Returns `seconds` in percent of all steps, as the mean over launches: such shares sum to 100.
double share_of(const std::vector<double>& all, const std::vector<double>& seconds) {
  double sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) sum += seconds[i] / all[i];
  return 100 * sum / static_cast<double>(all.size());
}

}  // namespace

Composition composition(const Results& results, const std::vector<Prediction>& predictions) {
  const Prediction &naive = predictions.at(0), &best = predictions.at(1);
  for (const Prediction* one : {&naive, &best}) {
    if (!one->impossible.empty()) return {.impossible = one->label + ": " + one->impossible};
  }
  const bool by_launch = of_launches(naive) && of_launches(best) && naive.launches == best.launches;
  const Steps before = steps_of(results, naive, by_launch), after = steps_of(results, best, by_launch);
  const std::vector<double> slow = sum_of(before), fast = sum_of(after);
  Composition out{.together = ratio_of_pairs(slow, fast)};
  for (const auto& [operation, seconds] : before) {
    const std::vector<double>& replacing = after.at(operation);
    std::vector<double> replaced = slow;
    for (std::size_t i = 0; i < slow.size(); ++i) replaced[i] += replacing[i] - seconds[i];
    out.effects.push_back({.operation = operation,
                           .share = share_of(slow, seconds),
                           .speedup = ratio_of_pairs(seconds, replacing),
                           .epoch = ratio_of_pairs(slow, replaced),
                           .limit = limit_of(slow, seconds),
                           .share_left = share_of(fast, replacing),
                           .limit_left = limit_of(fast, replacing)});
  }
  std::ranges::stable_sort(out.effects, std::greater{},
                           [](const OperationEffect& one) { return one.epoch.middle; });
  return out;
}

}  // namespace assay
