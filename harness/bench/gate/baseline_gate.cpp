#include "bench/gate/baseline_gate.hpp"

#include "bench/compare/words.hpp"
#include "core/machine/build_info.hpp"
#include "core/plan/trial_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

/// Returns the baseline of the first folder that has one.
std::optional<Baseline> find_baseline(const BaselineGateRequest& request, const std::string& machine_key) {
  Folders folders = request.rules.baselines;
  if (!request.record_missing.empty()) folders.push_back(request.record_missing);
  for (const auto& folder : folders) {
    if (auto found = load_baseline(baseline_path(folder, machine_key, request.run.suite.name))) return found;
  }
  return std::nullopt;
}

/// Lists the differences between this machine and those that recorded baselines of this suite.
std::vector<std::string> foreign_baselines(const BaselineGateRequest& request, const Machine& machine) {
  std::vector<std::string> out;
  for (const auto& folder : request.rules.baselines) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      const auto file = entry.path() / (request.run.suite.name + ".json");
      if (!entry.is_directory() || !std::filesystem::exists(file)) continue;
      const auto baseline = load_baseline(file);
      const Machine& other = baseline->recordings.back().results.machine;
      out.push_back(fmt::format("not comparable: {} was recorded elsewhere", file.string()));
      for (const std::string& line : differences(other.facts, machine.facts, true))
        out.push_back("  " + line);
    }
  }
  return out;
}

/// The commit of the recordings that this machine's results are compared with; empty when there are several.
std::string commit_before(const std::optional<Baseline>& baseline, const Machine& machine) {
  std::string out;
  if (!baseline) return out;
  for (const Recording& recording : baseline->recordings) {
    if (!differences(recording.results.machine.facts, machine.facts, true).empty()) continue;
    if (!out.empty() && out != recording.results.commit) return "";
    out = recording.results.commit;
  }
  return out;
}

bool is_of_other_shard(const TrialKey& key, const std::optional<ShardRecord>& record) {
  return record && !contains(record->shard, key.operation, key.problem);
}

/// Drops rows that this run was not asked for: they are not gone.
void leave_out_unselected(Comparison& comparison, const Selection& selection,
                          const std::optional<ShardRecord>& record, const Registry& registry) {
  const Filter filter(selection.filter, registry);
  std::erase_if(comparison.rows, [&](const ComparedRow& row) {
    if (row.standing != Standing::gone) return false;
    const auto key = trial_key(row.key);
    if (!key) return false;  // baselines hold no other names: one that does is shown
    if (is_of_other_shard(*key, record)) return true;
    return !filter.selects(row.key) ||
           (!selection.threads.empty() &&
            std::ranges::find(selection.threads, key->threads) == selection.threads.end());
  });
}

/// Measures slower rows afresh before anybody is told. The second launches are kept beside the first; when
/// somebody interrupts them, the gate is as partial as when it happens in the first.
Comparison confirmed_afresh(Comparison first, Results& results, const Baseline& baseline,
                            const BaselineGateRequest& request, const Sample& sample, const Hooks& hooks) {
  Confirmation both =
      confirm(std::move(first), baseline, request.policy, [&](const std::vector<std::string>& keys) {
        hooks.say(fmt::format("measure {} suspects afresh", keys.size()));
        return measure_afresh(results, keys, request.run, sample, hooks);
      });
  if (both.again) {
    results.partial = both.again->partial;
    results.again = std::move(both.again->trials);
  }
  return std::move(both.comparison);
}

/// Launches once more what was left open, with all variants of its cases: twice as many launches have a
/// narrower interval. Returns whether there was anything.
bool launched_more(Results& results, const Comparison& comparison, const BaselineGateRequest& request,
                   const Sample& sample, const Hooks& hooks) {
  std::vector<std::string> keys;
  for (const ComparedRow& row : comparison.rows) {
    if (is_open(row.standing)) keys.push_back(row.key);
  }
  if (keys.empty() || results.partial || !comparison.unfit.empty()) return false;
  hooks.say(fmt::format("launch {} open trials more", keys.size()));
  Results more = measure_afresh(results, keys, request.run, sample, hooks);
  results.partial = more.partial;
  for (TrialResult& late : more.trials) {
    TrialResult& trial = *std::ranges::find(results.trials, late.key, &TrialResult::key);
    if (is_measured(late))
      late.launches.insert(late.launches.begin(), trial.launches.begin(), trial.launches.end());
    trial = std::move(late);
  }
  return !results.partial;
}

/// Ends a gate without a baseline: if the user wants it, the results become the baseline.
void end_uncompared(BaselineGate& gate, const BaselineGateRequest& request) {
  const std::string& key = gate.results.machine.key;
  const std::string none =
      fmt::format("no comparable baseline of suite {} for machine {}", gate.results.suite, key);
  if (request.record_missing.empty()) {
    gate.next = fmt::format("assay record --suite {} --reason \"first recording\"", gate.suite);
    gate.outcome = {Word::not_comparable, none};
    return;
  }
  const auto file = baseline_path(request.record_missing, key, gate.results.suite);
  Baseline baseline = load_baseline(file).value_or(
      Baseline{.suite = gate.results.suite, .machine_key = key, .recordings = {}});
  baseline.recordings.push_back({.reason = "nothing comparable was stored", .results = gate.results});
  save_baseline(file, baseline);
  gate.remarks.push_back(fmt::format("{}: this run was recorded in {}", none, file.string()));
  gate.outcome = {Word::recorded, "nothing to compare with yet; the next run is gated against this one"};
  if (gate.compared) return;
  for (ComparedRow& row : gate.comparison.rows) {
    if (row.standing == Standing::not_comparable) row.why += ": this run was recorded as one";
  }
}

}  // namespace

BaselineGate gate_against_baseline(const BaselineGateRequest& request, const Registry& registry,
                                   const Sample& sample, const Hooks& hooks) {
  const GateRules& rules = request.rules;
  const Machine machine = this_machine();
  BaselineGate out{.baseline = find_baseline(request, machine.key)};
  const auto ledger = find_ledger(rules.baselines, request.run.suite.name, request.record_missing);
  out.suite = suite_in_commands(rules.suite, rules.baselines, ledger);
  const Occasion occasion{.today = rules.today,
                          .base = commit_before(out.baseline, machine),
                          .suite = out.suite,
                          .drift_limit = rules.drift_limit};
  if (rules.record_step) require_recordable(ledger, occasion.suite, occasion.base, build_info().commit);
  if (!out.baseline) out.remarks = foreign_baselines(request, machine);

  out.results = run(registry, request.run, sample, hooks);
  Results& results = out.results;
  const bool nothing_held = results.shard && results.trials.empty();
  out.compared = out.baseline && !results.partial && !nothing_held;
  if (out.compared) {
    out.comparison = compare(results, *out.baseline, request.policy);
    constexpr int rounds = 2;
    for (int i = 0; i < rounds && launched_more(results, out.comparison, request, sample, hooks); ++i)
      out.comparison = compare(results, *out.baseline, request.policy);
    leave_out_unselected(out.comparison, request.run.selection, results.shard, registry);
    out.comparison =
        confirmed_afresh(std::move(out.comparison), results, *out.baseline, request, sample, hooks);
  }
  const Step step = step_of(out.comparison, occasion.base, results.commit, occasion.today);
  // An acceptance runs out whether there is anything to compare with or not.
  if (ledger && !results.partial) out.ledger = apply(out.comparison, ledger->ledger, occasion);
  if (!out.compared) {
    std::vector<std::string> objections = std::move(out.comparison.objections);
    out.comparison = not_compared(
        results, results.partial ? "the run was interrupted" : "there is no baseline that it compares with");
    out.comparison.objections = std::move(objections);
  }
  out.outcome =
      outcome_of(results, out.comparison, out.compared ? Against::baseline : Against::nothing, rules.failing);
  // To a gate a machine with another build or other settings is a new one; the comparison lists the
  // differences.
  const bool uncompared = out.outcome.word == Word::measured ||
                          (out.outcome.word == Word::not_comparable && !out.comparison.comparable);
  if (uncompared) end_uncompared(out, request);
  if (rules.record_step && out.outcome.exit_code() == exit_code::passed) {
    out.outcome = recorded(*ledger, step, std::move(out.outcome));
  }
  return out;
}

}  // namespace assay
