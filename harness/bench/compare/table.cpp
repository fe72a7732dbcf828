// Comparisons as tables for the terminal.
#include "bench/compare/fields.hpp"
#include "bench/compare/row_text.hpp"
#include "bench/compare/words.hpp"
#include "core/json/lint.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace assay {
namespace {

constexpr std::size_t width = terminal_width;

struct Row {
  const ComparedRow* compared;
  std::string before, after;
};

/// The heaviest row last, and within one standing the largest change.
std::vector<Row> told_rows(const Comparison& comparison, const Results& before, const Results& after) {
  auto was = times_in_words(before, before.trials), is = times_in_words(after, after.trials),
       again = times_in_words(after, after.again);
  std::vector<Row> out;
  for (auto at = standings_by_weight.rbegin(); at != standings_by_weight.rend(); ++at) {
    const Standing standing = *at;
    for (const std::size_t i : rows_upwards(comparison, standing)) {
      const ComparedRow& row = comparison.rows[i];
      out.push_back({&row, was[row.key], row.afresh ? again[row.key] : is[row.key]});
    }
  }
  return out;
}

/// The key stays whole, so that it can be copied; times and standing are below it.
std::string text_of(const Row& row) {
  constexpr std::size_t most_of_a_key = 400;
  const ComparedRow& compared = *row.compared;
  std::string out = fmt::format("{} {}", mark(listed_as(compared)), printable(compared.key, most_of_a_key));
  std::string figures = printable(figures_in_words(compared), 4 * width);
  if (!figures.empty()) figures = wrapped("    " + figures, width, "      ") + "\n";
  const std::string limit = compared.ratio.coverage > 0 ? "  limit " + limit_in_words(compared) : "";
  if (row.before.empty() && row.after.empty()) {
    const std::string words = in_words(compared) + limit;
    return out + (display_width(out) + 2 + display_width(words) <= width ? "  " : "\n    ") + words + "\n" +
           figures;
  }
  out += fmt::format("\n    {:>9} {:>9}  {}{}", row.before, row.after, in_words(compared), limit);
  return out + "\n" + figures;
}

/// Each finding that leaves rows open once, with the row it holds for or how many.
std::vector<std::string> why_open(const std::vector<Row>& rows) {
  std::vector<const ComparedRow*> open;
  for (const Row& row : rows) {
    const Standing standing = row.compared->standing;
    if (standing == Standing::undecided || standing == Standing::not_comparable ||
        standing == Standing::skipped || is_fault(standing))
      open.push_back(row.compared);
  }
  std::vector<std::string> out;
  for (const SharedFinding& one : shared_findings(open)) {
    out.push_back(fmt::format("{}, {}: {}", to_string(one.finding.standing),
                              one.trials == 1 ? one.finding.key : fmt::format("{} trials", one.trials),
                              one.finding.why));
  }
  return out;
}

}  // namespace

std::string urgent_text(const Comparison& comparison, const Results& before, const Results& after) {
  std::string out;
  for (const Row& row : told_rows(comparison, before, after)) {
    if (is_urgent(*row.compared)) out += text_of(row);
  }
  return out;
}

std::string comparison_text(const Comparison& comparison, const Results& before, const Results& after) {
  std::string out = wrapped(comparison_sentence(comparison), width) + "\n";
  if (const std::string moved = machine_sentence(comparison); !moved.empty()) {
    out += wrapped(moved, width) + "\n";
  }
  for (const auto* list : {&comparison.failures, &comparison.objections}) {
    for (const std::string& line : *list) out += wrapped(printable(line, 2 * width), width) + "\n";
  }
  if (const std::string none = withheld_sentence(before, after); !none.empty()) {
    out += wrapped(printable(none, none.size()), width) + "\n";
  }
  for (const LintFinding& one : lint(to_value(comparison))) {
    out += wrapped(printable(in_words(one), 4 * width), width) + "\n";
  }
  for (const std::string& line : comparison.differences) {
    out += wrapped("  " + printable(line, 2 * width), width, "      ") + "\n";
  }
  const std::vector<Row> rows = told_rows(comparison, before, after);
  for (const std::string& reason : why_open(rows)) {
    out += wrapped(printable(reason, 4 * width), width) + "\n";
  }
  for (const Row& row : rows) out += text_of(row);
  return out;
}

}  // namespace assay
