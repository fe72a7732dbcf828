#include "bench/gate/patience.hpp"

#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

/// The standard error of a median by that of a mean, for many samples of a normal distribution.
const double median_by_mean = std::sqrt(std::acos(-1.0) / 2);

/// Returns how far single pairs lie from the middle of their launch.
double pair_deviation(const PairedTrial& trial) {
  std::vector<double> deviations;
  for (const PairedLaunch& launch : trial.launches) {
    for (const auto* side : {&launch.head, &launch.control}) {
      const auto logs = log_ratios(*side, launch.base);
      if (logs.size() > 2) deviations.push_back(robust_deviation(logs));
    }
  }
  return deviations.empty() ? 0 : median(deviations);
}

std::size_t third_look_or_next(const SequentialPolicy& policy, std::size_t launches) {
  constexpr std::size_t forgiving = 2;  // of the looks, from 0: two of 28 launches may be stray
  for (std::size_t i = 0; i < policy.looks.size(); ++i) {
    const bool last = i + 1 == policy.looks.size();
    if ((i >= forgiving || last) && policy.looks[i] > launches) return policy.looks[i];
  }
  return launches + 1;
}

}  // namespace

double wanted_patience(const PairedTrial& trial, const PatiencePolicy& policy) {
  if (trial.launches.size() < policy.learning) return 1;
  const double per_luck = median_by_mean * pair_deviation(trial) / policy.luck;
  // The first launch had the usual number of pairs.
  const auto usual = static_cast<double>(std::max<std::size_t>(1, trial.launches.front().base.size()));
  return std::clamp(per_luck * per_luck / usual, 1.0, policy.most);
}

double slice_seconds(const PairedLaunch& launch, double shortest) {
  double out = 0;
  for (const auto* side : {&launch.base, &launch.head, &launch.control}) {
    for (const double call : *side) out += std::max(call, shortest);
  }
  return out;
}

double usual_slice_seconds(const PairedTrial& trial) {
  if (trial.launches.empty()) return 0;
  return slice_seconds(trial.launches.front(), for_threads(trial.trial.threads, {}).slice_seconds);
}

double grant_patience(std::vector<PairedTrial>& trials, const std::vector<std::size_t>& which, double spare,
                      const PatiencePolicy& policy) {
  double wanted = 0;
  for (const std::size_t i : which) {
    trials[i].patience = wanted_patience(trials[i], policy);
    wanted += (trials[i].patience - 1) * usual_slice_seconds(trials[i]);
  }
  if (wanted <= 0) return 0;
  const double share = std::clamp(spare / wanted, 0.0, 1.0);
  for (const std::size_t i : which) trials[i].patience = 1 + share * (trials[i].patience - 1);
  return share * wanted;
}

void PatiencePlan::plan(TwoBuilds& run, const std::vector<std::size_t>& which, std::size_t launches,
                        double seconds_left) {
  slice_seconds_ = 0;
  for (const std::size_t i : which) slice_seconds_ += usual_slice_seconds(run.trials[i]);
  if (launches == 0) return;
  const auto ahead = static_cast<double>(third_look_or_next(run.policy, launches) - launches);
  double per_launch = seconds_left / ahead;
  if (launches < run.policy.screen) {
    const double share = run.timing.empty() ? policy_.screen : policy_.screen_of_others;
    const double of_screen =
        (seconds_left - (1 - share) * run.budget_seconds) / static_cast<double>(run.policy.screen - launches);
    per_launch = run.timing.empty() ? std::min(per_launch, of_screen) : of_screen;
  }
  run.launch_seconds = per_launch;
  if (launches < policy_.learning) return;
  const double spare = per_launch / per_slice_second_ - slice_seconds_;
  slice_seconds_ += grant_patience(run.trials, which, spare, policy_);
}

void PatiencePlan::took(double seconds) {
  if (slice_seconds_ > 0) per_slice_second_ = seconds / slice_seconds_;
}

}  // namespace assay
