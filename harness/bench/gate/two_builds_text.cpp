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

/// Seconds that would decide the open trials, were launches to go on as they did: an interval becomes half as
/// wide with four times as many, and is to be no wider than the limit lies from 1. 0 where none is open.
double deciding_budget(const TwoBuilds& run, const Comparison& comparison) {
  std::vector<double> times;  // as many launches
  double compared = 0;
  for (const ComparedRow& row : comparison.rows) {
    if (row.launches > 0) ++compared;
    if (!is_open(row.standing) || row.ratio.low <= 0) continue;
    const double width = std::log(row.ratio.high / row.ratio.low) / std::log(row.limit);
    times.push_back(std::max(2.0, width * width));
  }
  if (times.empty()) return 0;
  return run.seconds * (1 + static_cast<double>(times.size()) / compared * (quantile(times, 0.9) - 1));
}

std::string visible_line(const TwoBuilds& run, const GateFindings& findings) {
  std::vector<double> visible;
  std::ranges::copy_if(findings.visible, std::back_inserter(visible), [](double one) { return one > 0; });
  const double budget = deciding_budget(run, findings.comparison);
  const std::string more =
      budget > 0 && findings.comparison.unfit.empty()
          ? fmt::format("; what is open would take about --budget {:.0f}", std::ceil(budget / 10) * 10)
          : "";
  if (visible.empty()) return "would have seen no slow-down: its process starts are too few" + more;
  std::string out = "smallest slow-down that would have been seen: " + percent_text(median(visible) - 1);
  if (findings.visible.size() > 1) {
    out += fmt::format(" in the median trial, {} in nine of ten", percent_text(quantile(visible, 0.9) - 1));
    if (const std::size_t none = findings.visible.size() - visible.size(); none > 0) {
      out += fmt::format(", none in {}", none);
    }
  }
  return out + more;
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
                  .most_rows_on_screen = most_rows_on_screen,
                  .shows_same = !run.timing.empty()};
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
  if (std::ranges::any_of(run.trials, has_control)) out.seen = {visible_line(run, findings)};
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
                          .is_rate = run.timing.starts_with(rates_of_commands),
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
