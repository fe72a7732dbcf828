// A gate of two builds in words.
#include "bench/compare/fields.hpp"
#include "bench/compare/words.hpp"
#include "bench/gate/two_builds.hpp"
#include "core/json/lint.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

namespace assay {
namespace {

/// Rows of a standing that a terminal shows.
constexpr std::size_t most_rows_on_screen = 20;

/// 0 if nothing was measured, or seconds are withheld.
double seconds_of_base(const TwoBuilds& run, const PairedTrial& trial) {
  if (!run.mixed_machines.empty()) return 0;
  std::vector<double> quartiles;
  for (const PairedLaunch& launch : trial.launches) quartiles.push_back(quantile(launch.base, 0.25));
  return quartiles.empty() ? 0 : median(quartiles);
}

/// In each suite that has the case; none where seconds are withheld.
std::vector<EpochCost> epoch_costs(const PairedTrial& trial, double seconds, const Interval& ratio) {
  std::vector<EpochCost> out;
  if (seconds == 0) return out;
  for (const Occurrence& o : trial.occurrences) {
    const double epoch = seconds * o.per_epoch;
    out.push_back(
        {o.suite,
         {epoch * (ratio.low - 1), epoch * (ratio.middle - 1), epoch * (ratio.high - 1), ratio.coverage}});
  }
  return out;
}

std::string side_text(const Build& build) {
  std::string out = build.name;
  // Names of revisions hold the first seven digits.
  if (!build.commit.empty() && build.name.find(build.commit.substr(0, 7)) == std::string::npos) {
    out += fmt::format(" ({})", build.commit);
  }
  return out;
}

/// Lists the reasons to doubt the whole comparison, whatever its rows say.
std::vector<std::string> doubts(const TwoBuilds& run, const GateFindings& findings) {
  std::vector<std::string> out;
  if (!run.restriction.empty()) out.push_back(run.restriction);
  for (const auto& [side, build] : {std::pair{"base", &run.base}, std::pair{"head", &run.head}}) {
    const Fact* const type = find_fact(build->facts, "build type");
    if (type == nullptr || type->value == "Release") continue;
    out.push_back(fmt::format("{} is no Release build ({}): what it takes says little of one that is", side,
                              printable(type->value, 40)));
  }
  for (const std::string& line : findings.comparison.differences) out.push_back("differs: " + line);
  for (const LintFinding& one : lint(to_value(findings.comparison))) out.push_back(in_words(one));
  return out;
}

/// Counts standings, not what the samples alone would say: on a machine that is unfit nothing is the same.
std::string count_line(const TwoBuilds& run, const GateFindings& findings) {
  std::size_t screened = 0, same = 0, identical = 0, skipped = 0, other = 0, next = 0;
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const PairedTrial& trial = run.trials[i];
    if (trial.tested()) {
      const SequentialDecision& one = findings.decisions.trials[next++];
      if (run.partial || findings.comparison.rows[i].standing != Standing::same) continue;
      ++same;
      screened += one.screened ? 1 : 0;
      continue;
    }
    if (trial.left_out.standing == Standing::same) ++identical;
    if (trial.left_out.standing == Standing::skipped) ++skipped;
    if (trial.left_out.standing == Standing::not_comparable) ++other;
  }
  const std::string took = run.screen_seconds > 0 ? ", which took " + seconds_text(run.screen_seconds) : "";
  std::string out = fmt::format("{} same ({} by the screen{})", same, screened, took);
  if (identical > 0) out += fmt::format(", {} not measured: identical machine code", identical);
  if (other > 0) out += fmt::format(", {} not comparable", other);
  if (skipped > 0) out += fmt::format(", {} skipped", skipped);
  return out;
}

std::string control_line(const TwoBuilds& run) {
  std::vector<double> moved;
  for (const PairedTrial& trial : run.trials) {
    const TrialLogs logs = logs_of(trial);
    if (!logs.control.empty()) moved.push_back(std::exp(median(logs.control)));
  }
  if (moved.empty()) return "control: nothing was measured";
  std::ranges::sort(moved);
  return fmt::format("control (a copy of the base): {:.3f} to {:.3f} times the base, median {:.3f}",
                     quantile(moved, 0.05), quantile(moved, 0.95), median(moved));
}

std::string visible_line(const std::vector<double>& visible) {
  if (visible.size() == 1) {
    return visible.front() > 0
               ? "smallest slow-down that would have been seen: " + percent_text(visible.front() - 1)
               : "would have seen no slow-down: its process starts are too few";
  }
  const auto seen = [&](double ratio) {
    return std::ranges::count_if(visible, [&](double v) { return v > 0 && v <= ratio; });
  };
  return fmt::format("could have seen: 2 % in {}, 3 % in {}, 5 % in {} of {} trials measured", seen(1.02),
                     seen(1.03), seen(1.05), visible.size());
}

/// Empty for commands, which have no links.
std::string layout_line(const TwoBuilds& run) {
  if (!run.timing.empty() && run.base.layout_remark.empty()) return "";
  std::vector<double> moved;
  for (const PairedTrial& trial : run.trials) {
    if (const double one = moved_by_layout(trial); trial.launches.size() > 1) moved.push_back(one);
  }
  std::string out = fmt::format("layouts: {} of the base, {} of the head", run.base.links, run.head.links);
  if (run.base.links + run.head.links > 2 && !moved.empty()) {
    out += fmt::format("; their order alone moved process starts by {} in the median, {} at most",
                       percent_text(median(moved)), percent_text(std::ranges::max(moved)));
  }
  for (const std::string& remark : {run.base.layout_remark, run.head.layout_remark}) {
    if (!remark.empty() && out.find(remark) == std::string::npos) out += "; " + remark;
  }
  const auto has_one = [](const Build& build) { return build.links < 2 && !build.layout_remark.empty(); };
  if (has_one(run.base) || has_one(run.head)) {
    out += "; where code lies alone can move a small kernel by some percent";
  }
  return out;
}

/// Empty for a whole.
std::string shard_line(const TwoBuilds& run) {
  if (!run.mixed_machines.empty()) return run.mixed_machines + "; seconds are withheld, ratios stand";
  if (!run.shard) return "";
  return fmt::format("shard {} of 0 to {} holds {} of {} trials; assay merge puts all shards together",
                     run.shard->shard.index, run.shard->shard.count - 1, run.trials.size(),
                     run.shard->trials);
}

/// The ratios behind the standing: of each launch, to the base.
std::vector<PlottedSamples> ratios_by_launch(const PairedTrial& trial) {
  const TrialLogs logs = logs_of(trial);
  std::vector<PlottedSamples> out{{"head", {}}, {"copy of the base", {}}};
  for (const double log : logs.head) out[0].launches.push_back({std::exp(log)});
  for (const double log : logs.control) out[1].launches.push_back({std::exp(log)});
  return out;
}

}  // namespace

PullRequest pull_request_of(const TwoBuilds& run, const GateFindings& findings) {
  PullRequest out{.command = run.command,
                  .suite = run.suite,
                  .before_facts = run.base.facts,
                  .after_facts = run.head.facts,
                  .comparison = findings.comparison,
                  .most_rows_on_screen = most_rows_on_screen};
  for (std::vector<Fact>* facts : {&out.before_facts, &out.after_facts}) {
    for (const Fact& fact : run.machine.facts) {
      if (find_fact(*facts, fact.name) == nullptr) facts->push_back(fact);
    }
  }
  if (run.partial) {
    out.outcome = fmt::format("Interrupted after {:.0f} s: nothing is decided", run.seconds);
  }
  if (const std::string& unfit = findings.comparison.unfit; !unfit.empty()) {
    out.remarks.push_back("machine unfit: " + unfit);
  }
  std::ranges::move(doubts(run, findings), std::back_inserter(out.remarks));
  const auto has_control = [](const PairedTrial& one) { return !logs_of(one).control.empty(); };
  if (std::ranges::any_of(run.trials, has_control)) out.seen = {visible_line(findings.visible)};
  out.notes = {fmt::format("base {}, head {}: on one machine, in turns, in {:.0f} s", side_text(run.base),
                           side_text(run.head), run.seconds),
               control_line(run), count_line(run, findings)};
  for (const std::string& line :
       {run.timing.empty() ? "" : "times: " + run.timing, layout_line(run), shard_line(run)}) {
    if (!line.empty()) out.notes.push_back(line);
  }
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const PairedTrial& trial = run.trials[i];
    const ComparedRow& row = findings.comparison.rows[i];
    const double seconds = seconds_of_base(run, trial);
    out.trials.push_back({.before = seconds,
                          .after = seconds * std::max(row.ratio.middle, 0.0),
                          .cause = trial.cause,
                          .pointers = trial.pointers,
                          .epochs = row.standing == Standing::slower ? epoch_costs(trial, seconds, row.ratio)
                                                                     : std::vector<EpochCost>{},
                          .samples = ratios_by_launch(trial),
                          .scale = PlotScale::ratios});
  }
  return out;
}

}  // namespace assay
