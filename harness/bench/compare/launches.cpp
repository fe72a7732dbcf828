#include "bench/compare/launches.hpp"

#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

/// A witness on one side with the time around which it moves.
struct Witness {
  const Logs* logs;
  double usual;
};

/// Returns how the witnesses moved in a launch; nothing to add when there are none, missing when none was
/// measured in it.
double movement(const std::vector<Witness>& witnesses, std::size_t launch) {
  if (witnesses.empty()) return 0;
  std::vector<double> deviations;
  for (const Witness& witness : witnesses) {
    const double log = (*witness.logs)[launch];
    if (!std::isnan(log)) deviations.push_back(log - witness.usual);
  }
  return deviations.empty() ? missing : median(deviations);
}

double robust_deviation_or_none(const std::vector<double>& logs) {
  return logs.empty() ? 0 : robust_deviation(logs);
}

}  // namespace

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

Paired relative(const Side& before, const Side& after, const std::string& key,
                const std::vector<std::string>& witnesses) {
  std::vector<Witness> beside_before, beside_after;
  for (const std::string& witness : witnesses) {
    const LoggedTrial &was = before.rows.at(witness), &is = after.rows.at(witness);
    // The sides count alike, however many launches each has.
    const double usual = (was.usual + is.usual) / 2;
    beside_before.push_back({&was.logs, usual});
    beside_after.push_back({&is.logs, usual});
  }
  Paired out;
  const Logs &was = before.rows.at(key).logs, &is = after.rows.at(key).logs;
  for (std::size_t i = 0; i < was.size(); ++i) {
    const double log = was[i] - movement(beside_before, i);
    if (std::isnan(log)) continue;
    out.before.push_back(log);
    out.recording.push_back(before.recording[i]);
  }
  for (std::size_t i = 0; i < is.size(); ++i) {
    const double log = is[i] - movement(beside_after, i);
    if (!std::isnan(log)) out.after.push_back(log);
  }
  return out;
}

Interval ratio_of(const Paired& paired) {
  if (paired.before.empty() || paired.after.empty()) return {};
  return exponential(shift(paired.before, paired.after, verdict_coverage));
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

}  // namespace assay
