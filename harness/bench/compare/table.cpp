// Comparisons as tables for the terminal.
#include "bench/compare/fields.hpp"
#include "bench/compare/row_text.hpp"
#include "bench/compare/words.hpp"
#include "core/json/lint.hpp"
#include "core/machine/record.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace assay {
namespace {

constexpr std::size_t width = terminal_width;

struct Row {
  const ComparedRow* verdict;
  std::string before, after;
};

/// Rows in the order of `lightest_first`; the largest change last within one standing.
std::vector<Row> rows_of(const Comparison& comparison, const Results& before, const Results& after) {
  auto was = times_in_words(before, before.trials), is = times_in_words(after, after.trials),
       again = times_in_words(after, after.again);
  std::vector<Row> out;
  for (const Standing standing : lightest_first) {
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    for (const ComparedRow& verdict : comparison.rows) {
      if (listed_as(verdict) != standing) continue;
      out.push_back({&verdict, was[verdict.key], verdict.afresh ? again[verdict.key] : is[verdict.key]});
    }
    const auto change = [](const Row& row) {
      return std::max(row.verdict->ratio.middle, 1 / row.verdict->ratio.middle);
    };
    if (standing == Standing::slower || standing == Standing::accepted || standing == Standing::faster) {
      std::ranges::stable_sort(out.begin() + first, out.end(), {}, change);
    }
  }
  return out;
}

/// The key stays whole, so that it can be copied; what is known of the trial stands below it.
std::string text_of(const Row& row) {
  constexpr std::size_t most_of_a_key = 400;
  const ComparedRow& verdict = *row.verdict;
  std::string out = fmt::format("{} {}", mark(listed_as(verdict)), printable(verdict.key, most_of_a_key));
  std::string figures = printable(figures_in_words(verdict), 4 * width);
  if (!figures.empty()) figures = wrapped("    " + figures, width, "      ") + "\n";
  const std::string limit = verdict.ratio.coverage > 0 ? fmt::format("  limit {:.2f}", verdict.limit) : "";
  if (row.before.empty() && row.after.empty()) {
    const std::string words = in_words(verdict) + limit;
    return out + (display_width(out) + 2 + display_width(words) <= width ? "  " : "\n    ") + words + "\n" +
           figures;
  }
  out += fmt::format("\n    {:>9} {:>9}  {}{}", row.before, row.after, in_words(verdict), limit);
  return out + "\n" + figures;
}

/// Each reason why rows have no verdict once, with the row it holds for or how many.
std::vector<std::string> why_open(const std::vector<Row>& rows) {
  std::vector<const ComparedRow*> without_verdict;
  for (const Row& row : rows) {
    const ComparedRow& verdict = *row.verdict;
    const bool open = verdict.standing == Standing::undecided ||
                      verdict.standing == Standing::not_comparable || verdict.standing == Standing::skipped ||
                      is_fault(verdict.standing);
    if (open) without_verdict.push_back(&verdict);
  }
  std::vector<std::string> out;
  for (const SharedReason& one : shared_reasons(without_verdict)) {
    out.push_back(fmt::format("{}, {}: {}", to_string(one.first->standing),
                              one.trials == 1 ? one.first->key : fmt::format("{} trials", one.trials),
                              one.text));
  }
  return out;
}

}  // namespace

std::string urgent_text(const Comparison& comparison, const Results& before, const Results& after) {
  std::string out;
  for (const Row& row : rows_of(comparison, before, after)) {
    if (is_urgent(*row.verdict)) out += text_of(row);
  }
  return out;
}

std::string comparison_text(const Comparison& comparison, const Results& before, const Results& after) {
  std::string out = wrapped(verdict_sentence(comparison), width) + "\n";
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
  const std::vector<Row> rows = rows_of(comparison, before, after);
  for (const std::string& reason : why_open(rows)) {
    out += wrapped(printable(reason, 4 * width), width) + "\n";
  }
  for (const Row& row : rows) out += text_of(row);
  return out;
}

}  // namespace assay
