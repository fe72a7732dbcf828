// Comparisons as tables for the terminal.
#include "bench/compare/row_text.hpp"
#include "bench/compare/words.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>

namespace assay {
namespace {

/// Standings that a reader must see first, and those that come last.
constexpr std::array shown_first{
    Standing::crashed,  Standing::timed_out, Standing::wrong,  Standing::impossible, Standing::slower,
    Standing::accepted, Standing::undecided, Standing::faster, Standing::gone,       Standing::added};
constexpr std::array folded{Standing::not_comparable, Standing::skipped, Standing::same};

struct Row {
  const Verdict* verdict;
  std::string before, after;
};

/// Rows of these states, in the order of `standings`; the largest change first within one.
template <std::size_t count>
std::vector<Row> rows_of(const Comparison& comparison, const Results& before, const Results& after,
                         const std::array<Standing, count>& standings) {
  auto was = times_in_words(before, before.trials), is = times_in_words(after, after.trials),
       again = times_in_words(after, after.again);
  std::vector<Row> out;
  for (const Standing standing : standings) {
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    for (const Verdict& verdict : comparison.verdicts) {
      if (verdict.standing != standing) continue;
      out.push_back({&verdict, was[verdict.key], verdict.afresh ? again[verdict.key] : is[verdict.key]});
    }
    const auto change = [](const Row& row) {
      return std::max(row.verdict->ratio.middle, 1 / row.verdict->ratio.middle);
    };
    if (standing == Standing::slower || standing == Standing::accepted || standing == Standing::faster) {
      std::ranges::stable_sort(out.begin() + first, out.end(), std::greater{}, change);
    }
  }
  return out;
}

/// Each reason why rows have no verdict once, with the row it holds for or how many.
std::vector<std::string> why_open(const std::vector<Row>& rows) {
  std::vector<std::pair<const Verdict*, std::size_t>> known;
  for (const Row& row : rows) {
    const Verdict& verdict = *row.verdict;
    const bool open = verdict.standing == Standing::undecided ||
                      verdict.standing == Standing::not_comparable || verdict.standing == Standing::skipped ||
                      is_fault(verdict.standing);
    if (!open || verdict.why.empty()) continue;
    const auto same = std::ranges::find_if(known, [&](const auto& one) {
      return one.first->standing == verdict.standing && reason_of(*one.first) == reason_of(verdict);
    });
    if (same == known.end()) {
      known.emplace_back(&verdict, 1);
    } else {
      ++same->second;
    }
  }
  std::vector<std::string> out;
  for (const auto& [verdict, count] : known) {
    out.push_back(fmt::format("{}, {}: {}", to_string(verdict->standing),
                              count == 1 ? verdict->key : fmt::format("{} trials", count),
                              reason_of(*verdict)));
  }
  return out;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const Results& before, const Results& after) {
  constexpr std::size_t width = 100, name_width = 36;
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
  for (const std::string& line : comparison.differences) out += "  " + printable(line, width - 2) + "\n";
  auto rows = rows_of(comparison, before, after, shown_first);
  std::ranges::copy(rows_of(comparison, before, after, folded), std::back_inserter(rows));
  for (const Row& row : rows) {
    const Verdict& verdict = *row.verdict;
    std::string name = printable(verdict.key, width - 2);
    if (name.size() > name_width) {
      out += fmt::format("{} {}\n", mark(verdict.standing), name);
      name.clear();
    }
    std::string line =
        fmt::format("{} {:<{}} {:>9} {:>9}  {:<28}", name.empty() ? " " : mark(verdict.standing), name,
                    name_width, row.before, row.after, in_words(verdict));
    if (verdict.ratio.coverage > 0) line += fmt::format(" limit {:.2f}", verdict.limit);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  for (const std::string& reason : why_open(rows)) {
    out += wrapped(printable(reason, 4 * width), width) + "\n";
  }
  return out;
}

}  // namespace assay
