#include "bench/gate/gates.hpp"

#include "assay/error.hpp"
#include "bench/compare/words.hpp"
#include "bench/gate/benchmark_programs.hpp"
#include "bench/gate/rejected_trials.hpp"
#include "core/code/differing_functions.hpp"
#include "core/files/child_process.hpp"
#include "core/machine/build_info.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
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

/// Drops rows that this run was not asked for: they are not gone.
void leave_out_unselected(Comparison& comparison, const Selection& selection,
                          const std::optional<ShardRecord>& record, const Registry& registry) {
  const Filter filter(selection.filter, registry);
  std::erase_if(comparison.rows, [&](const ComparedRow& row) {
    if (row.standing != Standing::gone) return false;
    const auto key = trial_key(row.key);
    if (!key) return false;  // baselines hold no other names: one that does is shown
    if (record && !contains(record->shard, key->operation, key->problem)) return true;
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

/// Launches of every trial where sums since a release are tested: five steps of 1 % are then told from 3 %,
/// which is the limit, through launches that deviate by 1 %.
constexpr std::size_t launches_for_sums = 16;

/// Its commit is that of the revision that was built, if there was one.
Build build_of(const Programs& programs, const Description& description) {
  constexpr std::size_t digits = 12;
  const std::string of_program = programs.foreign ? "" : description.commit;
  return {.name = programs.name,
          .commit = programs.commit.empty() ? of_program : programs.commit.substr(0, digits),
          .facts = description.facts,
          .links = programs.links.size(),
          .layout_remark = programs.layout_remark};
}

/// Has each side check the corner cases of what is about to be timed. Older programs answer without verdicts.
void ask_for_corners(std::vector<PairedTrial>& trials, const BuildsGateRequest& request,
                     DescriptionRequest question, const Hooks& hooks) {
  for (const PairedTrial& trial : trials) {
    if (trial.tested()) question.corners.push_back(trial.trial.key);
  }
  if (question.corners.empty()) return;
  question.time_limit = request.time_limit;
  hooks.say("check corner cases");
  const Description of_head = described_by(request.head.links.front(), question, hooks);
  const bool both = request.base.links == request.head.links;
  leave_out_wrong(trials, both ? of_head : described_by(request.base.links.front(), question, hooks),
                  of_head);
}

/// Notes how often each trial occurs in an epoch of these suites, which gives the cost of a slow-down there.
void note_occurrences(std::vector<PairedTrial>& trials, const std::vector<Suite>& suites) {
  for (PairedTrial& trial : trials) {
    for (const Suite& suite : suites) {
      double per_step = 0;
      for (const Case& row : suite.cases) {
        if (row.operation == trial.trial.operation && row.problem == trial.trial.problem)
          per_step += row.per_step;
      }
      const double per_epoch = per_step * suite.steps_per_epoch;
      if (per_epoch > 0) trial.occurrences.push_back({suite.name, per_epoch});
    }
  }
}

/// Leaves out what is tested: builds that were configured differently are not compared.
void leave_out_different_builds(std::vector<PairedTrial>& trials, const Programs& base) {
  if (base.differences.empty()) return;
  for (PairedTrial& trial : trials) {
    if (trial.tested())
      trial.left_out = {Standing::not_comparable, fmt::format("{}", fmt::join(base.differences, "; "))};
  }
}

BenchmarkProgram asked_or_error(const Programs& side, const std::string& filter, const Hooks& hooks) {
  const std::filesystem::path& program = side.links.front();
  if (auto out = asked(program, side.arguments, filter, hooks)) return *std::move(out);
  throw Error(program.string(), "is no program of Google Benchmark: it does not know --benchmark_list_tests",
              "without --suite, --base and --head name such programs; builds of assay need --suite, and any "
              "other command `assay wrap`");
}

/// Says why launches of these programs differ by more than they would elsewhere.
std::string restriction_on(const BenchmarkProgram& base, const BenchmarkProgram& head) {
  if (!can_fix_addresses()) return addresses_move;
  for (const BenchmarkProgram* program : {&base, &head}) {
    if (program->runs_copied) continue;
    return fmt::format(
        "{} runs where it lies alone, so that launches share where the pages of both files are",
        program->program.string());
  }
  return "";
}

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
  // A machine with another build or other settings is new to a gate; the comparison lists the differences.
  const bool uncompared = out.outcome.word == Word::measured ||
                          (out.outcome.word == Word::not_comparable && !out.comparison.comparable);
  if (uncompared) end_uncompared(out, request);
  if (rules.record_step && out.outcome.exit_code() == exit_code::passed) {
    out.outcome = recorded(*ledger, step, std::move(out.outcome));
  }
  return out;
}

TwoBuilds gate_of_builds(BuildsGateRequest request, const Registry& registry, const Hooks& hooks) {
  TwoBuilds run = std::move(request.run);
  const Suite& suite = request.suite;
  const Programs &base = request.base, &head = request.head;
  const Filter filter(run.filter, registry);
  const DescriptionRequest question{.cases = suite.cases, .threads = request.threads, .seed = run.seed};
  const Description of_base = described_by(base.links.front(), question, hooks),
                    of_head = described_by(head.links.front(), question, hooks);
  run.suite = suite.name;
  run.base = build_of(base, of_base);
  run.head = build_of(head, of_head);
  const auto ledger = find_ledger(request.rules.baselines, suite.name);
  if (ledger) run.policy.screen = launches_for_sums;
  if (const GateRules& rules = request.rules; rules.record_step) {
    require_recordable(ledger, suite_in_commands(rules.suite, rules.baselines, ledger),
                       ledger ? step_end(*ledger, run.base.commit) : run.base.commit, run.head.commit);
  }
  run.trials = matched(
      of_base, of_head, [&](const std::string& key) { return filter.selects(key); }, request.identical_too);
  if (run.trials.empty()) filter.throw_selects_nothing("suite '" + suite.name + "'");
  leave_out_different_builds(run.trials, base);
  note_occurrences(run.trials, request.suites_around);
  if (request.shard) keep_shard(run, *request.shard, request.durations);
  ask_for_corners(run.trials, request, question, hooks);
  const PairedPrograms sampled{
      .base = base.links,
      .head = head.links,
      .policy = {.time_limit = request.time_limit, .audited = of_base.renews && of_head.renews},
      .shared_bytes = shared_bytes_for(registry, suite.cases)};
  sample_two_builds(run, paired_launches(sampled, hooks), hooks);
  if (run.partial) return run;
  std::vector<Roof> roofs;
  leave_out_impossible(run, roofs, registry, roof_of_one_thread(run.machine));
  note_pointers(run, base.links.front(), head.links.front(), registry, hooks);
  return run;
}

TwoBuilds gate_of_benchmarks(const ProgramsGateRequest& request, TwoBuilds run, const Hooks& hooks) {
  const std::filesystem::path& head = request.head.links.front();
  run.suite = request.name.empty() ? head.filename().string() : request.name;
  BenchmarkProgram of_base = asked_or_error(request.base, run.filter, hooks);
  require_time_for(of_base, run);
  BenchmarkProgram of_head = asked_or_error(request.head, run.filter, hooks);
  run.trials = matched(of_base.benchmarks, of_head.benchmarks);
  if (run.trials.empty()) {
    throw Error("filter '" + run.filter + "'", "selects nothing that both programs have",
                head.string() + " --benchmark_list_tests shows its benchmarks");
  }
  const bool same_use = of_base.arguments == of_head.arguments,
             alike = same_use && load_alike(of_base.program, of_head.program);
  std::set<std::string> unchanged;
  if (same_use && !alike)
    unchanged = unchanged_functions(of_base.program, of_head.program, "benchmark::State&", "benchmark");
  for (PairedTrial& trial : run.trials) {
    trial.trial.threads = settings_of(trial.trial.key).threads;
    if (!trial.tested()) continue;
    if (alike) trial.left_out = {Standing::same, "both programs are identical in all that is loaded"};
    if (unchanged.contains(trial.trial.key.substr(0, trial.trial.key.find('/'))))
      trial.left_out = {Standing::same, "all code and data that it reaches is the same in both programs"};
  }
  run.timing = timing_of(run.trials);
  run.restriction = restriction_on(of_base, of_head);
  run.base.layout_remark = run.head.layout_remark = layout_of_programs;
  leave_out_different_builds(run.trials, request.base);
  if (request.shard) keep_shard(run, *request.shard, request.durations);
  sample_two_builds(
      run,
      benchmark_launches(std::move(of_base), std::move(of_head), request.time_limit, request.counters, hooks),
      hooks);
  return run;
}

TwoBuilds gate_of_built_commands(const ProgramsGateRequest& request, CommandTiming timing, TwoBuilds run,
                                 const Hooks& hooks) {
  timing.name = request.name;
  const auto command = [](const Programs& side) {
    WrappedCommand out{.words = {side.links.front().string()}, .text = side.name};
    for (const std::string& word : side.arguments) {
      out.words.push_back(word);
      out.text += " " + shell_word(word);
    }
    return out;
  };
  TwoBuilds out = gate_of_commands(command(request.base), command(request.head), timing, std::move(run),
                                   hooks, [&](TwoBuilds& matched) {
                                     leave_out_different_builds(matched.trials, request.base);
                                     if (request.shard)
                                       keep_shard(matched, *request.shard, request.durations);
                                   });
  out.base.layout_remark = out.head.layout_remark = layout_of_programs;
  return out;
}

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

}  // namespace assay
