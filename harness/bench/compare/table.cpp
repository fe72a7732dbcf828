// Comparisons as text for the terminal, with ratios drawn with letters.
#include "bench/compare/pull_request.hpp"

#include "bench/compare/words.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace assay {
namespace {

constexpr std::size_t name_columns = 36, plot_columns = 43;
constexpr double widest_ratio = 2;

/// One character per column.
using Columns = std::vector<std::string>;

/// Keeps both ends: the start names the variant, the end the size and the threads.
std::string fitted(const std::string& name) {
  Columns characters;
  const std::string all = visible(name, Lines::one);
  for (std::string_view rest = all; !rest.empty(); rest.remove_prefix(characters.back().size()))
    characters.emplace_back(rest.substr(0, character_length(rest)));
  if (characters.size() > name_columns) {
    constexpr std::size_t head = name_columns / 2;
    const auto first = characters.begin() + head;
    characters.erase(first, first + static_cast<std::ptrdiff_t>(characters.size() - name_columns + 1));
    characters.insert(characters.begin() + head, "…");
  }
  characters.resize(name_columns, " ");
  return fmt::format("{}", fmt::join(characters, ""));
}

class Scale {
 public:
  explicit Scale(const std::vector<PlottedRatio>& rows) {
    double low = 0.99, high = 1.01;
    for (const PlottedRatio& row : rows) {
      low = std::min(low, row.ratio.low);
      high = std::max(high, row.ratio.high);
    }
    low_ = std::log(std::max(low, 1 / widest_ratio));
    high_ = std::log(std::min(high, widest_ratio));
  }
  bool below(double ratio) const { return std::log(ratio) < low_ - 1e-9; }
  bool above(double ratio) const { return std::log(ratio) > high_ + 1e-9; }
  std::size_t column(double ratio) const {
    const double share = (std::log(ratio) - low_) / (high_ - low_);
    return static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * (plot_columns - 1)));
  }

 private:
  double low_, high_;
};

/// Labels of round ratios where there is room, that of 1 first.
std::string labels(const Scale& scale) {
  constexpr std::array ticks{1.0, 0.5, 2.0,  0.8,  1.25, 0.7,  1.5,  0.9,
                             1.1, 1.2, 0.95, 1.05, 0.98, 1.02, 0.99, 1.01};
  std::string out(plot_columns, ' ');
  for (const double tick : ticks) {
    if (scale.below(tick) || scale.above(tick)) continue;
    const std::string label = fmt::format("{:g}x", tick);
    const std::size_t middle = scale.column(tick);
    const std::size_t start =
        std::min(middle - std::min(middle, label.size() / 2), plot_columns - label.size());
    const std::size_t from = start - std::min<std::size_t>(start, 2);
    const std::string_view there = std::string_view(out).substr(from, label.size() + 4);
    if (there.find_first_not_of(' ') == std::string_view::npos) out.replace(start, label.size(), label);
  }
  return out.erase(out.find_last_not_of(' ') + 1);
}

std::string bar(const Scale& scale, const Interval& ratio) {
  Columns out(plot_columns, " ");
  out[scale.column(1)] = "│";
  const std::size_t low = scale.column(ratio.low), high = scale.column(ratio.high);
  for (std::size_t i = low; i <= high; ++i) out[i] = "─";
  out[low] = scale.below(ratio.low) ? "◂" : "├";
  out[high] = scale.above(ratio.high) ? "▸" : "┤";
  if (!scale.below(ratio.middle) && !scale.above(ratio.middle)) out[scale.column(ratio.middle)] = "●";
  const std::string line = fmt::format("{}", fmt::join(out, ""));
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

constexpr std::size_t width = terminal_width;

constexpr auto lightest_first = [] {
  auto out = standings_by_weight;
  std::ranges::reverse(out);
  return out;
}();

/// A line of any length, which may come from an untrusted change.
std::string lines_of(const std::string& text, std::string_view indent, std::string_view next) {
  return wrapped(std::string(indent) + printable(text, 4 * width), width, next) + "\n";
}
std::string below(const std::string& text) { return lines_of(text, "    ", "      "); }

/// Positions of the rows of a standing, the largest change last.
std::vector<std::size_t> rows_upwards(const PullRequest& change, Standing standing) {
  std::vector<std::size_t> out = rows_of(change.comparison, standing);
  if (may_have_moved(standing)) std::ranges::reverse(out);
  return out;
}

/// The key stays whole, so that it can be copied; times and standing are below it.
std::string text_of(const ComparedRow& row, const ChangedTrial& trial) {
  constexpr std::size_t most_of_a_key = 400;
  std::string out = fmt::format("{} {}", mark(listed_as(row)), printable(row.key, most_of_a_key));
  const std::string words =
      in_words(row) + (row.ratio.coverage > 0 ? "  limit " + limit_in_words(row) : std::string()) +
      (is_open(row.standing) && row.launches > 0
           ? "  " + quantity_text(static_cast<Index>(row.launches), "launch", "launches")
           : "") +
      (row.visible > 0 && is_open(row.standing) ? "  sees " + percent_text(row.visible - 1) : "");
  const auto time = [&](double seconds) {
    return seconds <= 0 ? "" : trial.is_rate ? figure(1 / seconds) : seconds_text(seconds);
  };
  if (trial.before > 0 || trial.after > 0) {
    out += fmt::format("\n    {:>9} {:>9}  {}\n", time(trial.before), time(trial.after), words);
  } else {
    out += (display_width(out) + 2 + display_width(words) <= width ? "  " : "\n    ") + words + "\n";
  }
  if (const std::string figures = figures_in_words(row); !figures.empty()) out += below(figures);
  for (const EpochCost& cost : trial.epochs) {
    out += below(fmt::format("{} more per epoch of {}", seconds_text(cost.seconds), cost.suite));
  }
  for (const std::string& line : trial.pointers) out += below(line);
  return out;
}

/// Each finding that leaves rows open once, with the row it holds for or how many.
std::string why_open(const PullRequest& change) {
  std::vector<const ComparedRow*> open;
  for (const Standing standing : lightest_first) {
    if (!is_open(standing) && standing != Standing::not_comparable && standing != Standing::skipped &&
        !is_fault(standing))
      continue;
    for (const std::size_t i : rows_of(change.comparison, standing, standing_of_time)) {
      open.push_back(&change.comparison.rows[i]);
    }
  }
  std::string out;
  for (const auto& [finding, rows] : shared_findings(open)) {
    const std::string where = rows == 1 ? finding.key : quantity_text(static_cast<Index>(rows), "trial");
    out += lines_of(fmt::format("{}, {}: {}", to_string(finding.standing), where, finding.why), "", "");
  }
  return out;
}

/// Whether a trial asks for something to be done: it fails, or was left open.
bool is_urgent(const ComparedRow& row) {
  const Standing standing = listed_as(row);
  return is_fault(standing) || standing == Standing::slower || is_open(standing);
}

bool is_news(Standing standing) {
  return standing != Standing::same && standing != Standing::skipped && standing != Standing::not_comparable;
}

}  // namespace

std::vector<std::string> interval_plot(const std::vector<PlottedRatio>& rows) {
  std::vector<PlottedRatio> drawn;
  std::ranges::copy_if(rows, std::back_inserter(drawn), [](const PlottedRatio& row) {
    return row.ratio.low > 0 && row.ratio.low <= row.ratio.middle && row.ratio.middle <= row.ratio.high &&
           std::isfinite(row.ratio.high);
  });
  if (drawn.empty()) return {};
  const Scale scale(drawn);
  std::vector<std::string> out{fitted("time now / time before") + " " + labels(scale)};
  for (const PlottedRatio& row : drawn) out.push_back(fitted(row.name) + " " + bar(scale, row.ratio));
  return out;
}

std::string urgent_text(const PullRequest& change) {
  std::string out;
  for (const Standing standing : lightest_first) {
    for (const std::size_t i : rows_upwards(change, standing)) {
      const ComparedRow& row = change.comparison.rows[i];
      if (is_urgent(row)) out += text_of(row, change.trials[i]);
    }
  }
  return out;
}

std::string pull_request_text(const PullRequest& change) {
  std::string out;
  for (const auto* list : {&change.notes, &change.seen}) {
    for (const std::string& line : *list) out += lines_of(line, "", "  ");
  }
  if (!change.outcome.empty()) out += lines_of(change.outcome, "", "");
  for (const std::string& line : change.remarks) out += lines_of(line, "  ", "      ");
  for (const std::string& line : change.comparison.differences) {
    const bool said = std::ranges::any_of(change.remarks, [&](const auto& r) { return r.ends_with(line); });
    if (!said) out += lines_of(line, "  ", "      ");
  }
  out += why_open(change);
  for (const Standing standing : lightest_first) {
    const std::size_t most = change.most_rows_on_screen;
    if (most > 0 && !is_news(standing) && !(change.shows_same && standing == Standing::same)) continue;
    std::vector<std::size_t> rows = rows_upwards(change, standing);
    if (most > 0 && standing == Standing::same)
      std::erase_if(rows, [&](std::size_t i) { return change.comparison.rows[i].launches == 0; });
    const std::size_t left_out = most > 0 ? rows.size() - std::min(rows.size(), most) : 0;
    if (left_out > 0) out += fmt::format("  {} more {}: -o keeps them\n", left_out, to_string(standing));
    for (const std::size_t i : std::span(rows).subspan(left_out)) {
      out += text_of(change.comparison.rows[i], change.trials[i]);
    }
  }
  return out;
}

std::string comparison_text(const Comparison& comparison, const Results& before, const Results& after) {
  return wrapped(comparison_sentence(comparison), width) + "\n" +
         pull_request_text(pull_request_of(comparison, before, after));
}

}  // namespace assay
