#include "bench/gate/two_builds_outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

/// Steps begin and end at commits; a build with `+changes` is none.
std::vector<std::string> applied(Comparison& comparison, const TwoBuilds& run,
                                 const std::optional<StoredLedger>& ledger, const std::string& base,
                                 const GateRules& rules) {
  if (!ledger || run.partial || !comparison.unfit.empty()) return {};
  // Stored samples know the suite's name; its file is the user's.
  const std::string suite = rules.suite.empty() ? run.suite + ".json" : rules.suite;
  return apply(comparison, ledger->ledger,
               {.today = rules.today,
                .base = is_commit(base) ? base : "",
                .suite = suite_in_commands(suite, rules.baselines, ledger),
                .drift_limit = rules.drift_limit,
                .part = run.shard.has_value()});
}

Outcome outcome_of(const TwoBuilds& run, const Comparison& comparison, const FailurePolicy& policy) {
  const auto measured =
      std::ranges::count_if(run.trials, [](const PairedTrial& trial) { return !trial.launches.empty(); });
  ComparisonRun compared{.against = Against::base,
                         .measured = static_cast<std::size_t>(measured),
                         .partial = run.partial,
                         .seconds = run.seconds};
  if (run.shard && run.trials.empty()) {
    compared.nothing_to_do = fmt::format("this shard holds none of the {} trials", run.shard->trials);
  }
  return outcome_of(comparison, compared, policy);
}

Results side_of(const TwoBuilds& run, std::vector<double> PairedLaunch::*side) {
  Results out{.suite = run.suite, .machine = run.machine, .date = run.date, .seed = run.seed};
  out.mixed_machines = run.mixed_machines;
  for (const PairedTrial& trial : run.trials) {
    TrialResult result{.key = trial.trial.key,
                       .operation = trial.trial.operation,
                       .variant = trial.trial.variant,
                       .problem = trial.trial.problem,
                       .threads = trial.trial.threads};
    for (const PairedLaunch& launch : trial.launches) {
      Launch& slices = result.launches.emplace_back();
      for (const double seconds : launch.*side)
        slices.push_back({.seconds = seconds, .cpu_seconds = seconds});
    }
    out.trials.push_back(std::move(result));
  }
  return out;
}

}  // namespace

TwoBuildsOutcome judged(const TwoBuilds& run, const std::optional<StoredLedger>& ledger,
                        const GateRules& rules) {
  TwoBuildsOutcome out{.findings = findings_of(run)};
  Comparison& comparison = out.findings.comparison;
  const std::string base = ledger ? step_end(*ledger, run.base.commit) : run.base.commit;
  const Step step = step_of(comparison, base, run.head.commit, rules.today);
  out.ledger = applied(comparison, run, ledger, base, rules);
  out.outcome = outcome_of(run, comparison, rules.failing);
  if (rules.record_step && out.outcome.exit_code() == exit_code::passed) {
    out.outcome = recorded(*ledger, step, std::move(out.outcome));
  }
  return out;
}

Results base_results(const TwoBuilds& run) { return side_of(run, &PairedLaunch::base); }
Results head_results(const TwoBuilds& run) { return side_of(run, &PairedLaunch::head); }

}  // namespace assay
