// Times and speed-ups of trials of one results file.
#include "assay/compare.hpp"
#include "assay/random.hpp"
#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

std::vector<double> medians(const TrialResult& trial) {
  std::vector<double> out;
  for (const Launch& launch : trial.launches) {
    if (!launch.empty()) out.push_back(median(seconds_of(launch)));
  }
  return out;
}

}  // namespace

Interval time_of(const TrialResult& trial) {
  const auto launches = medians(trial);
  if (launches.empty()) return {};
  if (launches.size() > 1) return median_interval(launches);
  const auto only = std::ranges::find_if(trial.launches, [](const Launch& l) { return !l.empty(); });
  Interval out = median_interval(seconds_of(*only));
  out.basis = Basis::slices;
  return out;
}

Interval speedup(const TrialResult& reference, const TrialResult& trial) {
  std::vector<double> logs;
  const std::size_t pairs = std::min(reference.launches.size(), trial.launches.size());
  const Launch *slow = nullptr, *fast = nullptr;
  for (std::size_t i = 0; i < pairs; ++i) {
    if (reference.launches[i].empty() || trial.launches[i].empty()) continue;
    slow = &reference.launches[i];
    fast = &trial.launches[i];
    logs.push_back(std::log(median(seconds_of(*slow)) / median(seconds_of(*fast))));
  }
  if (logs.empty()) return {};
  if (logs.size() == 1) return ratio_of_medians(seconds_of(*slow), seconds_of(*fast), fnv1a(trial.key));
  return exponential(centre(logs));
}

}  // namespace assay
