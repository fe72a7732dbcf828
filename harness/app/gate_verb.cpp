#include "app/ci_outputs.hpp"
#include "app/ledger_use.hpp"
#include "app/measuring.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/sharding.hpp"
#include "app/unjudged.hpp"
#include "app/verb_functions.hpp"
#include "assay/compare.hpp"
#include "assay/error.hpp"
#include "assay/report.hpp"
#include "bench/report/content.hpp"
#include "core/machine/build_info.hpp"
#include "core/plan/filter.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

/// Returns the baseline of the first folder that has one.
std::optional<Baseline> find_baseline(const GateOptions& options, const std::string& key,
                                      const std::string& suite) {
  Folders folders = options.judging.baselines;
  if (!options.record_missing.empty()) folders.push_back(options.record_missing);
  for (const auto& folder : folders) {
    if (auto found = load_baseline(baseline_path(folder, key, suite))) return found;
  }
  return std::nullopt;
}

/// Lists the differences between this machine and those that recorded baselines of this suite.
std::string foreign_baselines(const GateOptions& options, const Machine& machine, const std::string& suite) {
  std::string out;
  for (const auto& folder : options.judging.baselines) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      const auto file = entry.path() / (suite + ".json");
      if (!entry.is_directory() || !std::filesystem::exists(file)) continue;
      const auto baseline = load_baseline(file);
      const Machine& other = baseline->recordings.back().results.machine;
      out += fmt::format("not comparable: {} was recorded elsewhere\n", file.string());
      for (const std::string& line : differences(other.facts, machine.facts, true)) out += "  " + line + "\n";
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

/// Takes a key `operation/variant/problem#threads`.
bool is_of_other_shard(const std::string& key, const std::optional<ShardRecord>& record) {
  if (!record) return false;
  const std::size_t first = key.find('/'), second = key.find('/', first + 1), end = key.rfind('#');
  return !contains(record->shard, key.substr(0, first), key.substr(second + 1, end - second - 1));
}

/// Rows that this run was not asked for are not gone.
void leave_out_unselected(Comparison& comparison, const GateOptions& options,
                          const std::optional<ShardRecord>& record, const Registry& registry) {
  const std::vector<int>& wanted = options.selection.threads;
  const Filter filter(options.selection.filter, registry);
  std::erase_if(comparison.verdicts, [&](const Verdict& verdict) {
    if (verdict.standing != Standing::gone) return false;
    if (is_of_other_shard(verdict.key, record)) return true;
    const int threads = std::stoi(verdict.key.substr(verdict.key.rfind('#') + 1));
    return !filter.selects(verdict.key) ||
           (!wanted.empty() && std::ranges::find(wanted, threads) == wanted.end());
  });
}

/// Measures slower rows afresh before anybody is told. The second launches are kept beside the first; when
/// somebody interrupts them, the gate is as partial as when it happens in the first.
Comparison confirmed_afresh(Comparison first, Results& results, const Baseline& baseline,
                            const RunRequest& request, const GatePolicy& policy) {
  Confirmation both = confirm(std::move(first), baseline, policy, [&](const std::vector<std::string>& keys) {
    Progress progress;
    const Hooks hooks = progress.hooks();
    hooks.say(fmt::format("measure {} suspects afresh", keys.size()));
    return measure_afresh(results, keys, request, sample_in_new_process, hooks);
  });
  if (both.again) {
    results.partial = both.again->partial;
    results.again = std::move(both.again->trials);
  }
  return std::move(both.comparison);
}

std::string expired(const Comparison& comparison) {
  return fmt::format("EXPIRED: {}", fmt::join(comparison.objections, "; "));
}

/// A ratio that this row keeps below when it is measured again: beyond its interval by what a case of its
/// spread moves by itself.
double acceptable(const Verdict& verdict) {
  return std::ceil(100 * verdict.ratio.high * verdict.limit) / 100;
}

/// `suite` with what commands need beside it.
Ending verdict_of(const Comparison& comparison, const GateOptions& options, const std::string& suite) {
  std::string slower;
  for (const Verdict& v : comparison.verdicts) {
    if (v.standing != Standing::slower) continue;
    slower += fmt::format("{} is {}, limit {:.2f}\n", v.key, in_words(v), v.limit);
  }
  const std::size_t count = comparison.count(Standing::slower);
  const std::size_t accepted = comparison.count(Standing::accepted);
  const std::size_t compared = count + comparison.count(Standing::undecided) + accepted +
                               comparison.count(Standing::same) + comparison.count(Standing::faster);
  std::string rest = unjudged_text(comparison);
  if (!rest.empty()) rest.insert(0, ", ");
  if (count > 0) {
    const Verdict& first = *std::ranges::find(comparison.verdicts, Standing::slower, &Verdict::standing);
    slower += fmt::format(
        "to accept one for a time: assay record --suite {} --accept '{}' --ratio {:.2f} "
        "--until DATE --reason TEXT\n",
        suite, first.key, acceptable(first));
    return {exit_code::found,
            fmt::format("{}REGRESSION: {} of {} trials {} slower than {} limit{}", slower, count, compared,
                        count == 1 ? "is" : "are", count == 1 ? "its" : "their", rest)};
  }
  if (!comparison.objections.empty() && expiry_fails(options.judging)) {
    return {exit_code::found, expired(comparison)};
  }
  if (compared == 0) {
    return {exit_code::undecided,
            "UNDECIDED: nothing was comparable with the baseline; see above for what differs"};
  }
  if (!comparison.unfit.empty()) {
    return {exit_code::undecided, "MACHINE UNFIT: " + comparison.unfit};
  }
  if (comparison.count(Standing::undecided) == compared) {
    return {exit_code::undecided,
            fmt::format("UNDECIDED: no verdict could be reached on any of {} trials; see above for why",
                        compared)};
  }
  const bool fails = unjudged_fails(comparison, options.judging);
  return {fails ? exit_code::undecided : exit_code::passed,
          fmt::format("{}: {} trials compared, none slower{}{}", fails ? "UNDECIDED" : "PASSED", compared,
                      accepted > 0 ? fmt::format(", {} accepted", accepted) : "", rest)};
}

/// Nothing was stored that this run is comparable with.
Ending without_baseline(const GateOptions& options, const Results& results) {
  const std::string& key = results.machine.key;
  if (options.record_missing.empty()) {
    return {exit_code::undecided,
            fmt::format("next: assay record --suite {} --reason \"first recording\"\n"
                        "UNDECIDED: no comparable baseline of suite {} for machine {}",
                        suite_in_commands(options.selection.suite.string(), options.judging.baselines, {}),
                        results.suite, key)};
  }
  const auto file = baseline_path(options.record_missing, key, results.suite);
  Baseline baseline =
      load_baseline(file).value_or(Baseline{.suite = results.suite, .machine_key = key, .recordings = {}});
  baseline.recordings.push_back({.reason = "nothing comparable was stored", .results = results});
  save_baseline(file, baseline);
  return {exit_code::passed,
          fmt::format("no comparable baseline of suite {} for machine {}: this run was recorded in {}\n"
                      "RECORDED: nothing to compare with yet; the next run is gated against this one",
                      results.suite, key, file.string())};
}

/// A part would leave the rest uncompared, or its step unsummed, without a word.
void require_whole_for_records(const GateOptions& options, const std::optional<Shard>& shard) {
  if (!options.record_missing.empty()) {
    require_whole(
        shard, "--record-missing",
        "record without shards: assay record --suite " + shell_word(options.selection.suite.string()));
  }
  if (options.record_step) require_whole(shard, "--record-step", "record the step in a job without shards");
}

/// The command that repeats this gate; the caller appends `-k` and a filter.
std::string command_without_filter(GateOptions options) {
  options.selection.filter.clear();
  options.shard = {};
  return command_of("gate", options);
}

/// Acceptances that ran out fail where nothing was compared, too.
Report report_of(const Results& results, const std::optional<Baseline>& baseline,
                 const std::optional<Comparison>& comparison, const Comparison& judged) {
  Report out = make_report(results, baseline, comparison);
  if (!comparison && !judged.objections.empty()) out.outcome = outcome_of(results, judged);
  return out;
}

void write_outputs(const GateOptions& options, const Results& results, const Report& report) {
  if (!options.output.empty()) write_file(options.output, to_json(results) + "\n");
  if (options.reports.empty()) return;
  const auto file = write_report(report, options.reports);
  fmt::print(stderr, "report: {}\n", file.string());
}

}  // namespace

int gate_verb(const GateOptions& options, const Registry& registry) {
  RunRequest request = run_request(options.selection, options.launches, registry);
  const std::optional<Shard> shard = shard_of_this_process(options.shard);
  require_whole_for_records(options, shard);
  divide(request, shard);
  const Machine machine = this_machine();
  const auto baseline = find_baseline(options, machine.key, request.suite.name);
  const auto ledger = find_ledger(options.judging.baselines, request.suite.name, options.record_missing);
  const Occasion occasion{
      .today = today(),
      .base = commit_before(baseline, machine),
      .suite = suite_in_commands(options.selection.suite.string(), options.judging.baselines, ledger),
      .drift_limit = options.judging.drift_limit};
  if (options.record_step) require_recordable(ledger, occasion.suite, occasion.base, build_info().commit);
  const std::string foreign = baseline ? "" : foreign_baselines(options, machine, request.suite.name);

  Results results = run_with_progress(registry, request);
  std::optional<Comparison> comparison;
  const bool nothing_held = results.shard && results.trials.empty();
  if (baseline && !results.partial && !nothing_held) {
    const GatePolicy policy{.limit = options.limit};
    comparison = compare(results, *baseline, policy);
    leave_out_unselected(*comparison, options, results.shard, registry);
    comparison = confirmed_afresh(*std::move(comparison), results, *baseline, request, policy);
  }
  // An acceptance runs out whether there is anything to compare with or not.
  Comparison nothing;
  Comparison& judged = comparison ? *comparison : nothing;
  const Step step = step_of(judged, occasion.base, results.commit, occasion.today);
  LedgerFindings findings;
  if (ledger && !results.partial) findings = apply(judged, ledger->ledger, occasion);
  const Report report = report_of(results, baseline, comparison, judged);

  std::string text = nothing_held ? std::string() : to_table(results);
  if (comparison) text += "\n" + comparison_text(*comparison, baseline->recordings.back().results, results);
  if (!findings.lines.empty()) text += fmt::format("\n{}\n", fmt::join(findings.lines, "\n"));
  Ending ending = ending_of(results);
  if (results.partial && comparison) ending.text += ", and what looked slower was not measured a second time";
  if (comparison && comparison->comparable) {
    const Ending verdict = verdict_of(*comparison, options, occasion.suite);
    if (ending.code == exit_code::passed)
      ending = verdict;
    else if (verdict.code == exit_code::found)
      ending.text = verdict.text + "\n" + ending.text;
  } else if (ending.code == exit_code::passed && findings.fails && expiry_fails(options.judging)) {
    ending = {exit_code::found, foreign + expired(judged)};
  } else if (ending.code == exit_code::passed && !nothing_held) {
    // A machine whose build or settings changed is a new one to a gate; the table above says what differs.
    ending = without_baseline(options, results);
    ending.text = foreign + ending.text;
  }
  if (options.record_step && ending.code == exit_code::passed) ending = recorded(*ledger, step, ending);
  if (results.shard && !nothing_held) text += in_words(*results.shard) + "\n";
  put(options.json, text + ending.text + "\n", to_json(report));
  write_outputs(options, results, report);
  put_ci_outputs(options.junit, options.json,
                 {.comparison = comparison,
                  .before = baseline ? &baseline->recordings.back().results : nullptr,
                  .after = &results,
                  .ending = ending,
                  .objections = judged.objections,
                  .command = command_without_filter(options)});
  return ending.code;
}

}  // namespace assay
