#include "bench/compare/row_text.hpp"
#include "bench/report/content.hpp"
#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay {
namespace {

constexpr std::size_t widest_table = 80;
using Cells = std::array<std::string, 7>;

std::string brackets(const Interval& interval, double unit) {
  return fmt::format("[{}, {}]", figure(interval.low / unit), figure(interval.high / unit));
}

Cells cells_of(const TimeRow& row) {
  Cells out{row.threads == 1 ? row.variant : fmt::format("{}#{}", row.variant, row.threads)};
  if (row.seconds.middle > 0) {
    IntervalCells time = seconds_cells(row.seconds);
    out[1] = std::move(time.middle);
    out[2] = std::move(time.range);
  } else {
    out[1] = "withheld";
  }
  if (row.speedup) {
    out[3] = figure(row.speedup->middle) + "x";
    out[4] = brackets(*row.speedup, 1);
  }
  if (row.share_of_roof > 0) {
    out[5] = percent_text(row.share_of_roof);
  }
  out[6] = count_text(row.allocations_per_call);
  return out;
}

/// One line below the cells of a case: what a trial without a time has instead.
std::string instead_of_time(const TrialResult& trial) {
  if (!trial.skipped.empty()) return "skipped: " + trial.skipped;
  if (trial.failure)
    return (trial.failure->kind == Failure::Kind::crashed ? "CRASHED: " : "TIMED OUT: ") +
           trial.failure->reason;
  if (!trial.agreement.agrees) return "DISAGREES: " + trial.agreement.detail;
  if (!trial.impossible.empty()) return "IMPOSSIBLE: " + trial.impossible;
  if (sampled_launches(trial) == 0) return "agrees, not measured";
  return trial.remark;
}

/// Whether a trial is at fault, and not only without a time.
bool is_at_fault(const TrialResult& trial) {
  return trial.skipped.empty() && (trial.failure || !trial.agreement.agrees || !trial.impossible.empty());
}

struct Block {
  std::string title;
  bool faulty = false;
  std::vector<Cells> rows;
  std::vector<std::string> lines;
};

std::vector<Block> blocks_of(const Results& results, const std::vector<BeatenRoof>& beaten) {
  const NaiveTrials naive(results);
  std::vector<Block> out;
  for (const TrialResult& trial : results.trials) {
    if (out.empty() || out.back().title != case_of(trial))
      out.push_back({.title = case_of(trial), .rows = {}, .lines = {}});
    Block& block = out.back();
    block.faulty = block.faulty || is_at_fault(trial);
    if (is_measured(trial)) {
      block.rows.push_back(cells_of(time_row(results, trial, naive.beside(trial), beaten)));
    }
    const std::string line = instead_of_time(trial);
    if (!line.empty()) {
      const std::string name =
          trial.threads == 1 ? trial.variant : fmt::format("{}#{}", trial.variant, trial.threads);
      block.lines.push_back(fmt::format("  {}  {}", name, line));
    }
  }
  // Cases with a fault come last, right above the verdict: a terminal shows the end of what is long.
  std::stable_partition(out.begin(), out.end(), [](const Block& block) { return !block.faulty; });
  return out;
}

std::string line_of(const Cells& cells, const std::array<std::size_t, 7>& widths) {
  std::string out = "  " + cells[0] + std::string(widths[0] - display_width(cells[0]), ' ');
  for (std::size_t i = 1; i < cells.size(); ++i) {
    // Brackets stand right behind their figure.
    out += (i == 2 || i == 4) ? " " : "  ";
    out += std::string(widths[i] - display_width(cells[i]), ' ') + cells[i];
  }
  while (out.ends_with(' ')) out.pop_back();
  return out + "\n";
}

}  // namespace

std::string faults_text(const Results& results) {
  std::string out;
  for (const TrialResult& trial : results.trials) {
    if (!is_at_fault(trial)) continue;
    out += fmt::format("{} {}\n", mark(Standing::wrong), printable(trial.key, 400));
    out +=
        wrapped("    " + printable(instead_of_time(trial), 4 * widest_table), widest_table, "      ") + "\n";
  }
  return out;
}

std::string to_table(const Results& results) {
  const Cells heading{"", "time", "[interval]", "vs naive", "[interval]", "of roof", "allocs"};
  std::array<std::size_t, 7> widths{};
  const std::vector<BeatenRoof> beaten = beaten_roofs(results);
  const std::vector<Block> blocks = blocks_of(results, beaten);
  const auto widen = [&](const Cells& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], display_width(cells[i]));
  };
  widen(heading);
  for (const Block& block : blocks) std::ranges::for_each(block.rows, widen);

  std::string out = line_of(heading, widths);
  for (const Block& block : blocks) {
    out += wrapped(block.title, widest_table, "    ") + "\n";
    for (const Cells& cells : block.rows) out += line_of(cells, widths);
    for (const std::string& line : block.lines) out += wrapped(line, widest_table, "      ") + "\n";
  }
  if (!results.mixed_machines.empty()) {
    out += wrapped("times and roofs are withheld: " + results.mixed_machines, widest_table, "  ") + "\n";
  }
  for (const std::string& why : why_not_believed(beaten, results.roofs))
    out += wrapped(why, widest_table, "  ") + "\n";
  return out;
}

}  // namespace assay
