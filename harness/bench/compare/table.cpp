// Comparisons as tables: Markdown for a pull request, text for the terminal.
#include "bench/compare/row_text.hpp"
#include "bench/compare/words.hpp"
#include "core/markup/escaping.hpp"
#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

namespace assay {
namespace {

/// Standings that a reader must see first, and those that may be folded away.
constexpr std::array shown_first{
    Standing::crashed,  Standing::timed_out, Standing::wrong,  Standing::impossible, Standing::slower,
    Standing::accepted, Standing::undecided, Standing::faster, Standing::gone,       Standing::added};
constexpr std::array folded{Standing::not_comparable, Standing::skipped, Standing::same};

/// A pull-request comment holds 65,536 characters; a row takes up to 250.
constexpr std::size_t most_rows = 100;

struct Row {
  const Verdict* verdict;
  std::string before, after;
};

/// None where they were measured on machines of which no reader knows which was which.
std::map<std::string, std::string> times(const Results& results, const std::vector<TrialResult>& trials) {
  std::map<std::string, std::string> out;
  if (!results.mixed_machines.empty()) return out;
  for (const TrialResult& trial : trials) {
    const double seconds = time_of(trial).middle;
    if (seconds > 0) out[trial.key] = seconds_text(seconds);
  }
  return out;
}

/// Rows of these states, in the order of `standings`; the largest change first within one.
template <std::size_t count>
std::vector<Row> rows_of(const Comparison& comparison, const Results& before, const Results& after,
                         const std::array<Standing, count>& standings) {
  auto was = times(before, before.trials), is = times(after, after.trials), again = times(after, after.again);
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

std::string machine_sentence(const Comparison& comparison) {
  if (std::max(comparison.machine_moved, 1 / comparison.machine_moved) < 1.01) return "";
  if (comparison.no_naive) {
    return fmt::format(
        "All trials took {:.2f} times as long as before (median). None is naive, so this may be the code or "
        "the machine; ratios leave it out.",
        comparison.machine_moved);
  }
  return fmt::format(
      "The naive variants took {:.2f} times as long as before: the machine. Ratios leave it out.",
      comparison.machine_moved);
}

/// Why there is a side without times.
std::string withheld_sentence(const Results& before, const Results& after) {
  std::string out;
  for (const auto& [side, results] : {std::pair{"before", &before}, std::pair{"after", &after}}) {
    if (results->mixed_machines.empty()) continue;
    out += fmt::format("{}Times {} are withheld: {}.", out.empty() ? "" : " ", side, results->mixed_machines);
  }
  return out;
}

std::string markdown_table(const std::vector<Row>& rows) {
  std::string out =
      "|   | trial | before | after | after vs before | interval | limit |\n"
      "|---|---|--:|--:|---|---|--:|\n";
  for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
    const Verdict& verdict = *rows[i].verdict;
    std::string interval = interval_in_words(verdict);
    if (!interval.empty()) {
      interval += fmt::format(" ({:.0f} %{})", 100 * verdict.ratio.coverage,
                              verdict.ratio.basis == Basis::slices ? " over slices" : "");
    }
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", mark(verdict.standing), code(verdict.key),
                       rows[i].before, rows[i].after, change_in_words(verdict), interval,
                       interval.empty() ? "" : fmt::format("{:.2f}", verdict.limit));
  }
  if (rows.size() > most_rows)
    out += fmt::format("\n{} more rows are in the results.\n", rows.size() - most_rows);
  return out;
}

std::string markdown_details(std::string_view title, const std::string& content) {
  return fmt::format("\n<details><summary>{}</summary>\n\n{}\n</details>\n", title, content);
}

/// Returns the reason why a row has no verdict, without the times behind it.
std::string reason_of(const Verdict& verdict) {
  return verdict.why.substr(0, verdict.why.find(": time after"));
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

bool needs_reason(Standing standing) {
  return standing != Standing::same && standing != Standing::added && standing != Standing::gone;
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison, const Results& before, const Results& after) {
  std::string out = "### " + verdict_sentence(comparison) + "\n\n";
  if (const std::string moved = machine_sentence(comparison); !moved.empty()) out += moved + "\n\n";
  for (const auto* list : {&comparison.failures, &comparison.objections}) {
    for (const std::string& line : *list) out += "- " + escaped(line) + "\n";
    if (!list->empty()) out += "\n";
  }
  if (const std::string none = withheld_sentence(before, after); !none.empty()) out += escaped(none) + "\n\n";
  const auto first = rows_of(comparison, before, after, shown_first);
  if (!first.empty()) out += markdown_table(first);
  std::string reasons;
  std::size_t count = 0;
  for (const Row& row : first) {
    if (!needs_reason(row.verdict->standing) || ++count > most_rows) continue;
    reasons += fmt::format("- {}: {}\n", code(row.verdict->key), escaped(row.verdict->why));
  }
  if (!reasons.empty()) out += markdown_details("Why", reasons);
  if (!comparison.differences.empty()) {
    std::string list;
    for (const std::string& line : comparison.differences) list += "- " + escaped(line) + "\n";
    out += markdown_details("What differs between the machines and builds", list);
  }
  for (const Standing standing : folded) {
    const auto rows = rows_of(comparison, before, after, std::array{standing});
    if (rows.empty()) continue;
    std::string content = markdown_table(rows);
    for (const std::string& reason : why_open(rows)) content += "\n" + escaped(reason) + ".\n";
    out += markdown_details(fmt::format("{} {}", rows.size(), to_string(standing)), content);
  }
  return out;
}

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
