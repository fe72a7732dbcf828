// The results of a run on a terminal.
#include "bench/compare/words.hpp"
#include "bench/report/content.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

constexpr std::size_t widest_table = 80;

/// Returns the reason why a trial has no time, or its remark.
std::string instead_of_time(const TrialResult& trial, const Results& results) {
  if (trial.failure)
    return (trial.failure->kind == Failure::Kind::crashed ? "CRASHED: " : "TIMED OUT: ") +
           trial.failure->reason;
  if (!trial.agreement.agrees) return "DISAGREES: " + trial.agreement.detail;
  if (!trial.impossible.empty()) return "IMPOSSIBLE: " + trial.impossible;
  if (sampled_launches(trial) == 0) return "agrees, not measured";
  // Threads wait for each other: where a core of theirs is taken, they take as long as its owner keeps it.
  const double taken = results.weather.other_busy_share * results.machine.cores;
  constexpr double half = 0.5;
  if (trial.threads <= 1 || taken < half || results.machine.cores - taken > trial.threads - half)
    return trial.remark;
  return fmt::format("{}{}beside other work, which took {} of the processors", trial.remark,
                     trial.remark.empty() ? "" : "; ", percent_text(results.weather.other_busy_share));
}

bool is_at_fault(const TrialResult& trial) {
  return trial.skipped.empty() && (trial.failure || !trial.agreement.agrees || !trial.impossible.empty());
}

/// `row` of a trial that was measured.
std::vector<doc::Text> cells_of(const Results& results, const TrialResult& trial,
                                const std::optional<TimeRow>& row) {
  std::vector<doc::Text> out{case_of(trial), with_threads(trial.variant, trial.threads)};
  if (row) {
    out.push_back(row->seconds.middle > 0 ? doc::Text(doc::seconds(row->seconds)) : "withheld");
    out.push_back(row->speedup ? doc::Text(doc::amount(*row->speedup, "times")) : "");
    out.push_back(row->share_of_roof > 0 ? doc::Text(doc::share(row->share_of_roof)) : "");
    for (const Figure& figure : results.figures) out.push_back(figure_cell(figure, trial.figures));
  } else {
    out.resize(out.size() + 3 + results.figures.size());
  }
  out.push_back(trial.picked ? trial.picked->variant : "");
  out.push_back(instead_of_time(trial, results));
  return out;
}

}  // namespace

std::string faults_text(const Results& results) {
  std::string out;
  for (const TrialResult& trial : results.trials) {
    if (!is_at_fault(trial)) continue;
    out += fmt::format("{} {}\n", mark(Standing::wrong), printable(trial.key, 400));
    out += wrapped("    " + printable(instead_of_time(trial, results), 4 * widest_table), widest_table,
                   "      ") +
           "\n";
  }
  return out;
}

std::string to_table(const Results& results) {
  const NaiveTrials naive(results);
  const std::vector<BeatenRoof> beaten = beaten_roofs(results);
  doc::Table table{.columns = {{.tag = "case", .heads = true},
                               {.tag = "variant", .name = " ", .folds = false},
                               {.tag = "seconds", .name = "time", .unit = "s", .folds = false},
                               {.tag = "speedup", .name = "vs naive", .unit = "times"},
                               {.tag = "share_of_roof", .name = "of roof", .unit = "share"}}};
  for (const Figure& figure : results.figures) table.columns.push_back(column_of(figure));
  table.columns.push_back({.tag = "picked", .name = "chose"});
  table.columns.push_back({.tag = "remark", .folds = false, .wraps = true});
  std::vector<std::string> faulty;
  for (const TrialResult& trial : results.trials) {
    if (is_at_fault(trial)) faulty.push_back(case_of(trial));
  }
  // Cases with a fault come last, right above the verdict: a terminal shows the end of a long text.
  for (const bool faults : {false, true}) {
    for (const TrialResult& trial : results.trials) {
      const bool has_fault = std::ranges::find(faulty, case_of(trial)) != faulty.end();
      if (!trial.skipped.empty() || has_fault != faults) continue;
      std::optional<TimeRow> row;
      if (is_measured(trial)) row = time_row(results, trial, naive.beside(trial), beaten);
      table.rows.push_back(cells_of(results, trial, row));
    }
  }
  std::vector<doc::Block> blocks{std::move(table)};
  for (const auto& [why, trials] : skipped_by(results, [](const TrialResult& one) { return one.skipped; }))
    blocks.emplace_back(quantity_text(trials, "trial") + " did not run here: " + why);
  if (!results.mixed_machines.empty()) {
    blocks.emplace_back("times and roofs are withheld: " + results.mixed_machines);
  }
  for (const std::string& why : why_not_believed(beaten, results.roofs)) blocks.emplace_back(why);
  return doc::to_text(blocks);
}

}  // namespace assay
