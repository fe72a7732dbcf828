#include "app/two_builds_ending.hpp"

#include "app/ci_outputs.hpp"
#include "app/measuring.hpp"
#include "app/output.hpp"
#include "app/unjudged.hpp"
#include "bench/ledger/drift.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay {
namespace {

std::size_t count(const GateRuling& ruling, Standing standing) { return ruling.comparison.count(standing); }

/// Rows that are slower than the base were measured here; rows that crept are slower than a release by steps
/// of which none was, and those of identical machine code were not even measured.
std::string regression(const Comparison& comparison, std::size_t measured) {
  std::size_t slower = 0, crept = 0, summed = 0;
  std::string release;
  for (const Verdict& verdict : comparison.verdicts) {
    if (estimate_of(verdict)) ++summed;
    if (verdict.standing != Standing::slower) continue;
    ++(verdict.crept_since.empty() ? slower : crept);
    if (!verdict.crept_since.empty()) release = verdict.crept_since;
  }
  const std::string than_base =
      fmt::format("{} of {} trials {} slower than the base", slower, measured, slower == 1 ? "is" : "are");
  if (crept == 0) return "REGRESSION: " + than_base;
  return fmt::format(
      "REGRESSION: {}{} of {} trials {} slower than at release {}, by the sum of the steps since",
      slower > 0 ? than_base + "; " : "", crept, summed, crept == 1 ? "is" : "are", release);
}

Ending judged_ending(const TwoBuilds& run, const GateRuling& ruling, const VerdictOptions& options) {
  const std::size_t measured = ruling.rulings.trials.size(), slower = count(ruling, Standing::slower),
                    wrong = count(ruling, Standing::wrong), undecided = count(ruling, Standing::undecided);
  const auto identical =
      static_cast<std::size_t>(std::ranges::count_if(run.trials, [](const PairedTrial& trial) {
        return trial.left_out == Standing::same && !trial.tested();
      }));
  if (run.partial) {
    return {exit_code::interrupted,
            fmt::format("INTERRUPTED after {:.0f} s: nothing is decided", run.seconds)};
  }
  if (wrong > 0) {
    return {exit_code::found, fmt::format("WRONG: {} trial{} of the head disagree{} with the oracle", wrong,
                                          wrong == 1 ? "" : "s", wrong == 1 ? "s" : "")};
  }
  if (const std::string& unfit = ruling.comparison.unfit; !unfit.empty()) {
    return {exit_code::undecided, fmt::format("MACHINE UNFIT: {}; nothing here can be believed", unfit)};
  }
  std::string rest = unjudged_text(ruling.comparison);
  if (!rest.empty()) rest.insert(0, ", ");
  if (slower > 0) return {exit_code::found, regression(ruling.comparison, measured) + rest};
  if (run.shard && run.trials.empty()) {
    return {exit_code::passed,
            fmt::format("PASSED: this shard holds none of the {} trials", run.shard->trials)};
  }
  if (!run.trials.empty() && count(ruling, Standing::skipped) == run.trials.size()) {
    return {exit_code::all_skipped, "SKIPPED: nothing selected runs on this machine"};
  }
  const std::size_t other = count(ruling, Standing::not_comparable);
  if (measured == 0 && other > 0) {
    return {exit_code::undecided,
            fmt::format("UNDECIDED: nothing was measured, and {} trial{} of both builds cannot be compared",
                        other, other == 1 ? "" : "s")};
  }
  const bool fails = unjudged_fails(ruling.comparison, options.judging);
  if (measured == 0 && identical > 0) {
    return {fails ? exit_code::undecided : exit_code::passed,
            fmt::format("{}: all {} trials that both builds have are identical machine code{}",
                        fails ? "UNDECIDED" : "PASSED", identical, rest)};
  }
  if (measured == 0) {
    return {exit_code::undecided, "UNDECIDED: the two builds have no trial in common that runs here"};
  }
  if (undecided == measured) {
    return {exit_code::undecided,
            fmt::format("UNDECIDED: {:.0f} s decided none of {} trials{}; give more with --budget, or fewer "
                        "trials with -k",
                        run.seconds, measured, rest)};
  }
  return {fails ? exit_code::undecided : exit_code::passed,
          fmt::format("{}: {} trials compared in {:.0f} s, none slower{}", fails ? "UNDECIDED" : "PASSED",
                      measured, run.seconds, rest)};
}

/// Kernels that came to no end fail a gate, whatever the others did.
Ending ending_of(const TwoBuilds& run, const GateRuling& ruling, const VerdictOptions& options) {
  Ending out = judged_ending(run, ruling, options);
  std::vector<std::string> failed;
  for (const Verdict& verdict : ruling.comparison.verdicts) {
    if (has_failed(verdict.standing)) failed.push_back(verdict.key + ": " + verdict.why);
  }
  if (failed.empty() || run.partial) return out;
  out.text += fmt::format("{}CRASHED: {}", out.text.empty() ? "" : "\n", fmt::join(failed, "; "));
  out.code = exit_code::crashed;
  return out;
}

std::string next_commands(const TwoBuilds& run, const GateRuling& ruling) {
  std::string out;
  if (run.partial) return out;
  for (const Verdict& verdict : ruling.comparison.verdicts) {
    // No repetition of this gate shows what several steps add up to.
    if (verdict.standing != Standing::slower || !verdict.crept_since.empty()) continue;
    out += fmt::format("again: {}\n", repeat_command(run.command, verdict.key));
  }
  return out;
}

/// One side as results, for outputs that show times.
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

/// Only ends of commits are written down; `+changes` is none.
LedgerFindings applied(Comparison& comparison, const TwoBuilds& run,
                       const std::optional<StoredLedger>& ledger, const std::string& base,
                       const VerdictOptions& options) {
  if (!ledger || run.partial || !comparison.unfit.empty()) return {};
  return apply(
      comparison, ledger->ledger,
      {.today = today(),
       .base = is_commit(base) ? base : "",
       // Stored samples know the suite's name; its file is the user's.
       .suite = suite_in_commands(options.suite.empty() ? run.suite + ".json" : options.suite.string(),
                                  options.judging.baselines, ledger),
       .drift_limit = options.judging.drift_limit,
       .part = run.shard.has_value()});
}

}  // namespace

int end_two_builds(const VerdictOptions& options, const TwoBuilds& run,
                   const std::optional<StoredLedger>& ledger) {
  GateRuling ruling = ruling_of(run);
  const std::string base = ledger ? step_end(*ledger, run.base.commit) : run.base.commit;
  const Step step = step_of(ruling.comparison, base, run.head.commit, today());
  const LedgerFindings findings = applied(ruling.comparison, run, ledger, base, options);
  Ending ending = ending_of(run, ruling, options);
  // Whether anything was decided or not, an acceptance runs out.
  const bool open = (ending.code == exit_code::undecided || ending.code == exit_code::all_skipped) &&
                    ruling.comparison.unfit.empty();
  if ((ending.code == exit_code::passed || open) && !ruling.comparison.objections.empty() &&
      expiry_fails(options.judging)) {
    ending = {exit_code::found, fmt::format("EXPIRED: {}", fmt::join(ruling.comparison.objections, "; "))};
  }
  if (options.record_step && ending.code == exit_code::passed) ending = recorded(*ledger, step, ending);
  std::string text = two_builds_text(run, ruling);
  if (!findings.lines.empty()) text += fmt::format("{}\n", fmt::join(findings.lines, "\n"));
  put(options.json, text + next_commands(run, ruling) + ending.text + "\n", to_json(ruling.comparison));
  if (!options.output.empty()) write_file(options.output, to_json(run) + "\n");
  if (!options.markdown.empty()) write_file(options.markdown, two_builds_markdown(run, ruling));
  const Results before = side_of(run, &PairedLaunch::base), after = side_of(run, &PairedLaunch::head);
  const std::optional<Comparison> comparison = std::move(ruling.comparison);
  put_ci_outputs(options.junit, options.json,
                 {.comparison = comparison,
                  .before = &before,
                  .after = &after,
                  .ending = ending,
                  .command = run.command});
  return ending.code;
}

}  // namespace assay
