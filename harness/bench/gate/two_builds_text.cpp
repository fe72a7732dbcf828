// A gate of two builds in words, for the terminal and for a pull request.
#include "bench/compare/fields.hpp"
#include "bench/compare/row_text.hpp"
#include "bench/compare/words.hpp"
#include "bench/gate/two_builds.hpp"
#include "core/json/lint.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

namespace assay {
namespace {

constexpr std::size_t width = 80;
constexpr std::size_t rows_on_screen = 20;  // of each standing

/// Whether a reader sees the rows of that standing one by one; the others are counted. Of programs that are
/// not assay's also rows that cannot be compared: there may be few, each with a reason of its own.
bool is_listed(const TwoBuilds& run, Standing standing) {
  if (standing == Standing::skipped || standing == Standing::not_comparable) return !run.timing.empty();
  return standing != Standing::same;
}

struct Row {
  const PairedTrial* trial;
  const ComparedRow* compared;
};

std::vector<Row> rows_of(const TwoBuilds& run, const GateFindings& findings, Standing standing) {
  std::vector<Row> out;
  if (!is_listed(run, standing)) return out;
  for (const std::size_t i : rows_upwards(findings.comparison, standing))
    out.push_back({&run.trials[i], &findings.comparison.rows[i]});
  return out;
}

/// 0 if nothing was measured, or seconds are withheld.
double seconds_of_base(const TwoBuilds& run, const PairedTrial& trial) {
  if (!run.mixed_machines.empty()) return 0;
  std::vector<double> quartiles;
  for (const PairedLaunch& launch : trial.launches) quartiles.push_back(quantile(launch.base, 0.25));
  return quartiles.empty() ? 0 : median(quartiles);
}

/// In each suite that has the case; none where seconds are withheld.
std::vector<EpochCost> epoch_costs(const TwoBuilds& run, const Row& row) {
  std::vector<EpochCost> out;
  const double seconds = seconds_of_base(run, *row.trial);
  if (seconds == 0) return out;
  const Interval& ratio = row.compared->ratio;
  for (const Occurrence& o : row.trial->occurrences) {
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
    const auto type = std::ranges::find(build->facts, "build type", &Fact::name);
    if (type == build->facts.end() || type->value == "Release") continue;
    out.push_back(fmt::format("{} is no Release build ({}): what it takes says little of one that is", side,
                              printable(type->value, 40)));
  }
  for (const std::string& line : findings.comparison.differences) out.push_back("differs: " + line);
  for (const LintFinding& one : lint(to_value(findings.comparison))) out.push_back(in_words(one));
  return out;
}

std::string interrupted_sentence(const TwoBuilds& run) {
  return fmt::format("Interrupted after {:.0f} s: nothing is decided", run.seconds);
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

std::string control_line(const TwoBuilds& run, const GateFindings& findings) {
  std::vector<double> moved;
  for (const PairedTrial& trial : run.trials) {
    const TrialLogs logs = logs_of(trial);
    if (!logs.control.empty()) moved.push_back(std::exp(median(logs.control)));
  }
  if (moved.empty()) return "control: nothing was measured";
  std::ranges::sort(moved);
  std::string out =
      fmt::format("control (a copy of the base): {:.3f} to {:.3f} times the base, median {:.3f}",
                  quantile(moved, 0.05), quantile(moved, 0.95), median(moved));
  if (findings.visible.size() == 1) {
    const double visible = findings.visible.front();
    return out + (visible > 0 ? fmt::format("\nsmallest slow-down that would have been seen: {}",
                                            percent_text(visible - 1))
                              : "\nwould have seen no slow-down: its process starts are too few");
  }
  const auto seen = [&](double ratio) {
    return std::ranges::count_if(findings.visible, [&](double v) { return v > 0 && v <= ratio; });
  };
  return out + fmt::format("\ncould have seen: 2 % in {}, 3 % in {}, 5 % in {} of {} trials measured",
                           seen(1.02), seen(1.03), seen(1.05), findings.visible.size());
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

}  // namespace

namespace {

std::string below(const std::string& text) {
  return wrapped("    " + printable(text, 4 * width), width, "      ") + "\n";
}

/// The key stays whole, so that it can be copied.
std::string text_of(const TwoBuilds& run, const Row& row) {
  constexpr std::size_t most_of_a_key = 400;
  const Standing standing = row.compared->standing;
  const double seconds = seconds_of_base(run, *row.trial);
  std::string out = fmt::format(
      "{} {}\n    {}{}{}\n", mark(listed_as(*row.compared)), printable(row.compared->key, most_of_a_key),
      seconds > 0 ? seconds_text(seconds) + "  " : "", in_words(*row.compared),
      row.trial->launches.size() > 0 ? fmt::format("  {} process starts", row.trial->launches.size()) : "");
  if (standing == Standing::wrong || standing == Standing::undecided || row.compared->ratio.middle <= 0) {
    out += below(row.compared->why);
  }
  if (const std::string figures = figures_in_words(*row.compared); !figures.empty()) out += below(figures);
  if (standing == Standing::slower) {
    for (const EpochCost& cost : epoch_costs(run, row)) {
      out += below(fmt::format("{} more per epoch of {}", seconds_text(cost.seconds), cost.suite));
    }
  }
  for (const std::string& line : row.trial->pointers) out += below(line);
  return out;
}

}  // namespace

std::string urgent_text(const TwoBuilds& run, const GateFindings& findings) {
  std::string out;
  for (auto at = standings_by_weight.rbegin(); at != standings_by_weight.rend(); ++at) {
    const Standing standing = *at;
    for (const Row& row : rows_of(run, findings, standing)) {
      if (is_urgent(*row.compared)) out += text_of(run, row);
    }
  }
  return out;
}

std::string two_builds_text(const TwoBuilds& run, const GateFindings& findings) {
  std::string out = wrapped("base " + printable(side_text(run.base), 4 * width), width, "  ") + "\n" +
                    wrapped("head " + printable(side_text(run.head), 4 * width), width, "  ") + "\n";
  if (!run.timing.empty()) out += wrapped("times: " + run.timing, width) + "\n";
  if (run.partial) out += interrupted_sentence(run) + "\n";
  for (const std::string& line : doubts(run, findings)) {
    out += wrapped("  " + printable(line, 4 * width), width, "      ") + "\n";
  }
  const std::string control = control_line(run, findings);
  for (const std::string& line :
       {control.substr(0, control.find('\n')),
        control.find('\n') == std::string::npos ? "" : control.substr(control.find('\n') + 1),
        layout_line(run), count_line(run, findings), shard_line(run)}) {
    if (!line.empty()) out += wrapped(line, width, "  ") + "\n";
  }
  for (auto at = standings_by_weight.rbegin(); at != standings_by_weight.rend(); ++at) {
    const Standing standing = *at;
    const std::vector<Row> rows = rows_of(run, findings, standing);
    const std::size_t left_out = rows.size() - std::min(rows.size(), rows_on_screen);
    if (left_out > 0) out += fmt::format("  {} more {}: -o keeps them\n", left_out, to_string(standing));
    for (std::size_t i = left_out; i < rows.size(); ++i) out += text_of(run, rows[i]);
  }
  return out;
}

namespace {

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
                  .comparison = findings.comparison};
  for (std::vector<Fact>* facts : {&out.before_facts, &out.after_facts}) {
    for (const Fact& fact : run.machine.facts) {
      if (std::ranges::find(*facts, fact.name, &Fact::name) == facts->end()) facts->push_back(fact);
    }
  }
  if (run.partial) out.outcome = interrupted_sentence(run);
  if (const std::string& unfit = findings.comparison.unfit; !unfit.empty()) {
    out.remarks.push_back("machine unfit: " + unfit);
  }
  std::ranges::move(doubts(run, findings), std::back_inserter(out.remarks));
  std::string control = control_line(run, findings);
  const std::size_t second = control.find('\n');
  if (second != std::string::npos) out.seen.push_back(control.substr(second + 1));
  out.notes = {fmt::format("base {}, head {}: on one machine, in turns, in {:.0f} s", side_text(run.base),
                           side_text(run.head), run.seconds),
               control.substr(0, second), count_line(run, findings)};
  if (!run.timing.empty()) out.notes.push_back("times: " + run.timing);
  if (const std::string line = layout_line(run); !line.empty()) out.notes.push_back(line);
  if (const std::string line = shard_line(run); !line.empty()) out.notes.push_back(line);
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const PairedTrial& trial = run.trials[i];
    const Row row{&trial, &findings.comparison.rows[i]};
    const double seconds = seconds_of_base(run, trial);
    ChangedTrial& changed = out.trials.emplace_back();
    changed.before = seconds;
    changed.after = seconds * std::max(row.compared->ratio.middle, 0.0);
    changed.cause = trial.cause;
    changed.pointers = trial.pointers;
    changed.samples = ratios_by_launch(trial);
    changed.scale = PlotScale::ratios;
    if (row.compared->standing == Standing::slower) changed.epochs = epoch_costs(run, row);
  }
  return out;
}

std::string two_builds_markdown(const TwoBuilds& run, const GateFindings& findings) {
  return pull_request_markdown(pull_request_of(run, findings));
}

}  // namespace assay
