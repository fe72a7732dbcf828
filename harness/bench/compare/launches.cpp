#include "bench/compare/launches.hpp"

#include "assay/random.hpp"
#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace assay {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

std::vector<double> present(const Logs& logs) {
  std::vector<double> out;
  for (const double x : logs) {
    if (!std::isnan(x)) out.push_back(x);
  }
  return out;
}

/// The time around which a row moves. The sides count alike, however many launches each has.
double usual_time(const LoggedTrial& before, const LoggedTrial& after) {
  return (before.usual + after.usual) / 2;
}

/// Returns how far witnesses moved in a launch, without the one that deviated by `own`; missing if no other
/// was measured.
double movement(const std::vector<double>& deviations, std::optional<double> own) {
  const std::size_t others = deviations.size() - (own ? 1 : 0);
  if (others == 0) return missing;
  const auto left_out = own ? std::ranges::lower_bound(deviations, *own) : deviations.end();
  const auto at = [&](std::size_t i) {
    return deviations[i + (deviations.begin() + static_cast<std::ptrdiff_t>(i) >= left_out ? 1 : 0)];
  };
  return median(std::array{at((others - 1) / 2), at(others / 2)});
}

double robust_deviation_or_none(const std::vector<double>& logs) {
  return logs.empty() ? 0 : robust_deviation(logs);
}

std::vector<double> medians(const TrialResult& trial) {
  std::vector<double> out;
  for (const Launch& launch : trial.launches) {
    if (!launch.empty()) out.push_back(median(seconds_of(launch)));
  }
  return out;
}

}  // namespace

TrialsByKey by_key(const std::vector<TrialResult>& trials) {
  TrialsByKey out;
  for (const TrialResult& trial : trials) out[trial.key] = &trial;
  return out;
}

Side side_of(std::span<const Results* const> recordings, const Results& current) {
  std::map<std::string, const std::string*> workloads;
  for (const TrialResult& trial : current.trials) workloads[trial.key] = &trial.workload;
  Side side;
  for (std::size_t r = 0; r < recordings.size(); ++r) {
    const std::size_t first = side.recording.size();
    std::size_t launches = 0;
    for (const TrialResult& trial : recordings[r]->trials)
      launches = std::max(launches, trial.launches.size());
    side.recording.resize(first + launches, r);
    for (const TrialResult& trial : recordings[r]->trials) {
      const auto known = workloads.find(trial.key);
      if (!is_measured(trial) || known == workloads.end() || *known->second != trial.workload) continue;
      Logs& logs = side.rows[trial.key].logs;
      logs.resize(first + launches, missing);
      for (std::size_t i = 0; i < trial.launches.size(); ++i) {
        if (!trial.launches[i].empty())
          logs[first + i] = std::log(quantile(seconds_of(trial.launches[i]), 0.25));
      }
    }
  }
  for (auto& [key, row] : side.rows) {
    row.logs.resize(side.recording.size(), missing);
    row.usual = median(present(row.logs));
  }
  return side;
}

// Sorted once: a median for each row, of all others, would take time that grows with the square of the rows.
Witnesses witnesses_of(const Side& before, const Side& after, std::set<std::string> keys) {
  Witnesses out{std::move(keys), std::vector<std::vector<double>>(before.recording.size()),
                std::vector<std::vector<double>>(after.recording.size())};
  for (const std::string& key : out.keys) {
    const LoggedTrial &was = before.rows.at(key), &is = after.rows.at(key);
    const double usual = usual_time(was, is);
    const auto add = [&](std::vector<std::vector<double>>& launches, const Logs& logs) {
      for (std::size_t i = 0; i < logs.size(); ++i) {
        if (!std::isnan(logs[i])) launches[i].push_back(logs[i] - usual);
      }
    };
    add(out.before, was.logs);
    add(out.after, is.logs);
  }
  for (auto* side : {&out.before, &out.after}) std::ranges::for_each(*side, sort_ascending);
  return out;
}

Paired relative(const Side& before, const Side& after, const std::string& key, const Witnesses& witnesses) {
  const LoggedTrial &was = before.rows.at(key), &is = after.rows.at(key);
  const bool none = witnesses.beside(key) == 0, is_one = witnesses.keys.contains(key);
  const double usual = usual_time(was, is);
  const auto without = [&](double log, const std::vector<std::vector<double>>& launches, std::size_t i) {
    if (none || std::isnan(log)) return log;
    return log - movement(launches[i], is_one ? std::optional(log - usual) : std::nullopt);
  };
  Paired out;
  for (std::size_t i = 0; i < was.logs.size(); ++i) {
    const double log = without(was.logs[i], witnesses.before, i);
    if (std::isnan(log)) continue;
    out.before.push_back(log);
    out.recording.push_back(before.recording[i]);
  }
  for (std::size_t i = 0; i < is.logs.size(); ++i) {
    const double log = without(is.logs[i], witnesses.after, i);
    if (!std::isnan(log)) out.after.push_back(log);
  }
  return out;
}

Interval ratio_of(const Paired& paired, double coverage) {
  if (paired.before.empty() || paired.after.empty()) return {};
  return exponential(shift(paired.before, paired.after, coverage));
}

double spread_of(const Paired& paired) {
  std::map<std::size_t, std::vector<double>> recordings;
  for (std::size_t i = 0; i < paired.before.size(); ++i) {
    recordings[paired.recording[i]].push_back(paired.before[i]);
  }
  if (recordings.size() < 2) {
    const bool known = paired.before.size() > 1;
    return robust_deviation_or_none(known ? paired.before : paired.after);
  }
  std::vector<double> centres;
  for (const auto& [recording, logs] : recordings) centres.push_back(median(logs));
  return robust_deviation(centres);
}

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
