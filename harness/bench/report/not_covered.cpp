#include "bench/report/content.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace assay {
namespace {

std::vector<std::string> gaps_of_trials(const Results& results) {
  const NaiveTrials naive(results);
  std::vector<std::string> out;
  std::set<std::string> without_naive, unknown_calls;
  Index wrong = 0, impossible = 0, unmeasured = 0, unchecked = 0, sampled = 0;
  for (const TrialResult& trial : results.trials) {
    if (!trial.skipped.empty()) continue;
    if (disagrees(trial)) ++wrong;
    if (!trial.impossible.empty()) ++impossible;
    if (trial.agreement.agrees && sampled_launches(trial) == 0) ++unmeasured;
    if (is_measured(trial) && trial.agreement.compared == 0) ++unchecked;
    if (trial.agreement.compared < trial.agreement.total) ++sampled;
    if (is_measured(trial) && naive.beside(trial) == nullptr) without_naive.insert(case_of(trial));
    if (calls_of(results, trial) == nullptr) unknown_calls.insert(trial.operation + "/" + trial.variant);
    if (!trial.remark.empty()) out.push_back(fmt::format("{}: {}", trial.key, trial.remark));
  }
  const auto add = [&](Index number, const char* one, const char* words) {
    if (number > 0) out.push_back(quantity_text(number, one) + " " + words);
  };
  add(wrong, "trial", "not timed, since the numbers are wrong");
  add(impossible, "trial", "not used, being faster than any kernel can be");
  add(unmeasured, "trial", "agreed but had no time measured");
  add(std::ssize(unknown_calls), "variant", "of which it is not known what the code calls");
  add(unchecked, "trial", "timed with no output compared: not to be believed");
  add(sampled, "trial", "checked on a seeded sample of the outputs, since the oracle is slow at that size");
  for (const std::string& name : without_naive)
    out.push_back(name + ": no speed-up, since naive has no time");
  return out;
}

}  // namespace

std::vector<std::string> not_covered(const Results& results, const std::optional<Comparison>& comparison,
                                     const std::vector<Prediction>& predictions) {
  std::vector<std::string> out;
  if (results.partial) out.push_back("the run was interrupted: some trials are missing");
  if (results.shard && results.shard->shard.count > 1) {
    const ShardRecord& record = *results.shard;
    out.push_back(fmt::format("this is shard {} of 0 to {}: {} of the {} selected cases are in the others",
                              record.shard.index, record.shard.count - 1,
                              record.cases - static_cast<Index>(record.positions.size()), record.cases));
  }
  if (!results.mixed_machines.empty()) {
    out.push_back("times, rates, roofs and break-even sizes are withheld: " + results.mixed_machines);
  }
  const auto reason = [](const TrialResult& trial) {
    return fmt::format("{}/{}: {}", trial.operation, trial.variant, trial.skipped);
  };
  for (const auto& [why, trials] : skipped_by(results, reason))
    out.push_back(quantity_text(trials, "trial") + " did not run: " + why);
  for (const Fact& fact : results.machine.facts) {
    if (fact.value == "not linked" && fact.name == "OpenBLAS") {
      out.push_back("OpenBLAS was not built in: nothing is measured against it");
    }
  }
  std::ranges::move(gaps_of_trials(results), std::back_inserter(out));
  if (!comparison) {
    out.push_back(
        "no trial was compared: there is no baseline of this suite for this machine, or none was asked for");
  } else if (!comparison->comparable) {
    out.push_back("no time was compared: the deciding facts of the machine or the build differ (section 2)");
  }
  if (results.roofs.empty() && results.mixed_machines.empty())
    out.push_back("no roof was measured: shares of the roof are unknown");
  for (const Prediction& prediction : predictions) {
    if (prediction.impossible.empty()) continue;
    out.push_back(fmt::format("no epoch predicted ({}): {}", prediction.label, prediction.impossible));
  }
  if (results.commit.empty() || results.commit == "unknown") {
    out.push_back("the commit of the program is unknown");
  } else if (results.commit.find('+') != std::string::npos) {
    out.push_back("the program was built from changes that are in no commit: " + results.commit);
  }
  return out;
}

}  // namespace assay
