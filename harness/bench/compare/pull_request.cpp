#include "bench/compare/pull_request.hpp"

#include "bench/compare/fields.hpp"
#include "bench/compare/interval_plot.hpp"
#include "bench/compare/row_text.hpp"
#include "bench/compare/words.hpp"
#include "core/json/lint.hpp"
#include "core/markup/template.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/command.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace assay {
namespace {

/// What readers must see first comes first; the last are dropped first.
constexpr std::array by_weight{
    Standing::crashed,        Standing::timed_out, Standing::wrong,  Standing::impossible, Standing::slower,
    Standing::accepted,       Standing::undecided, Standing::faster, Standing::gone,       Standing::added,
    Standing::not_comparable, Standing::skipped,   Standing::same};

// A page of one minute: what exceeds these is counted.
constexpr std::size_t most_lines = 8, most_causes = 8, most_epochs = 6, most_plotted = 16;
/// Names from outside may have any length; those of real trials are shorter than this.
constexpr std::size_t most_name_bytes = 160, most_line_bytes = 400, most_command_bytes = 4000;
constexpr std::size_t usual_rows = 400;

struct PageRow {
  const ComparedRow* verdict;
  const ChangedTrial* trial;
};

double size_of_change(const ComparedRow& verdict) {
  const double middle = verdict.ratio.middle;
  return middle > 0 ? std::max(middle, 1 / middle) : 0;
}

/// Rows of that standing, the largest change first.
std::vector<PageRow> page_rows(const PullRequest& change, Standing standing) {
  std::vector<PageRow> out;
  for (std::size_t i = 0; i < change.trials.size(); ++i) {
    const ComparedRow& verdict = change.comparison.rows[i];
    if (verdict.standing == standing) out.push_back({&verdict, &change.trials[i]});
  }
  if (standing == Standing::slower || standing == Standing::accepted || standing == Standing::faster) {
    std::ranges::stable_sort(out, std::greater{},
                             [](const PageRow& row) { return size_of_change(*row.verdict); });
  }
  return out;
}

std::string short_name(const std::string& key) { return abridged(key, most_name_bytes); }
std::string short_line(const std::string& text) { return abridged(text, most_line_bytes); }

/// The first lines, and how many more there are.
void add_lines(Json& out, const char* list, const char* more, const std::vector<std::string>& lines) {
  Json shown = Json::array();
  for (std::size_t i = 0; i < std::min(most_lines, lines.size()); ++i) shown.push_back(short_line(lines[i]));
  out[list] = std::move(shown);
  out[more] = lines.size() > most_lines ? Json(lines.size() - most_lines) : Json();
}

/// The operation and the variant of a key, without the tier: `gemm/simd` of `gemm/simd@avx2/m=1#2`.
std::string variant_group(const std::string& key) {
  const auto trial = trial_key(key);
  return trial ? trial->operation + "/" + trial->variant.substr(0, trial->variant.find('@')) : key;
}

/// Rows that became slower by one change. Without a known cause, those of one variant.
struct Cause {
  std::string cause, variant;
  std::vector<PageRow> rows;
};

/// The cause with most slower trials first.
std::vector<Cause> causes_of(const std::vector<PageRow>& slower) {
  std::vector<Cause> out;
  for (const PageRow& row : slower) {
    const std::string& cause = row.trial->cause;
    const std::string variant = cause.empty() ? variant_group(row.verdict->key) : "";
    auto known = std::ranges::find_if(
        out, [&](const Cause& one) { return one.cause == cause && one.variant == variant; });
    if (known == out.end()) known = out.insert(out.end(), {cause, variant, {}});
    known->rows.push_back(row);
  }
  std::ranges::stable_sort(out, std::greater{}, [](const Cause& one) { return one.rows.size(); });
  return out;
}

std::string ratio_figure(double ratio) { return fmt::format("{:.{}f}", ratio, ratio < 1.1 ? 3 : 2); }

Json causes_table(const std::vector<Cause>& causes) {
  Json out = Json::array();
  for (std::size_t i = 0; i < std::min(most_causes, causes.size()); ++i) {
    const Cause& one = causes[i];
    const ComparedRow& worst = *one.rows.front().verdict;
    const double least = one.rows.back().verdict->ratio.middle, most = worst.ratio.middle;
    out.push_back(
        Json{{"cause", short_name(one.cause)},
             {"variant", short_name(one.variant)},
             {"trials", fmt::format("{} trial{}", one.rows.size(), one.rows.size() == 1 ? "" : "s")},
             {"range", ratio_figure(least) == ratio_figure(most)
                           ? ratio_figure(most) + "x"
                           : ratio_figure(least) + " to " + ratio_figure(most) + "x"},
             {"worst", in_words(worst)},
             {"key", short_name(worst.key)}});
  }
  return out;
}

/// Where to look, once for all trials of a cause that say the same.
Json places_to_look(const std::vector<Cause>& causes) {
  Json out = Json::array();
  for (const Cause& one : causes) {
    if (out.size() == most_causes) break;
    const ChangedTrial& first = *one.rows.front().trial;
    if (first.pointers.empty()) continue;
    Json lines = Json::array();
    for (std::size_t i = 0; i < std::min(most_lines, first.pointers.size()); ++i) {
      const std::string& text = first.pointers[i];
      lines.push_back(short_line(text.substr(std::min(text.size(), text.find_first_not_of(' ')))));
    }
    out.push_back(Json{{"key", short_name(one.rows.front().verdict->key)},
                       {"more", one.rows.size() == 1 ? "" : fmt::format("{} more", one.rows.size() - 1)},
                       {"lines", std::move(lines)}});
  }
  return out;
}

/// `gemm/simd@avx2#2` of `gemm/simd@avx2/m=1#2`.
std::string variant_and_threads(const std::string& key) {
  const auto trial = trial_key(key);
  return trial ? fmt::format("{}/{}#{}", trial->operation, trial->variant, trial->threads) : key;
}

/// What an epoch takes more when every case is run by one variant, as far as it became slower: the sum over
/// its cases. The ends are those of all intervals together, which is wider than their sum deserves.
void add_epochs(Json& values, const std::vector<PageRow>& slower) {
  std::map<std::pair<std::string, std::string>, Interval> sums;
  for (const PageRow& row : slower) {
    for (const EpochCost& cost : row.trial->epochs) {
      const std::string variant = variant_and_threads(row.verdict->key);
      Interval& sum = sums[{cost.suite, variant}];
      sum.low += cost.seconds.low;
      sum.middle += cost.seconds.middle;
      sum.high += cost.seconds.high;
      sum.coverage = cost.seconds.coverage;
    }
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Interval>> sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted, std::greater{}, [](const auto& one) { return one.second.middle; });
  Json out = Json::array();
  for (std::size_t i = 0; i < std::min(most_epochs, sorted.size()); ++i) {
    out.push_back(Json{{"suite", short_name(sorted[i].first.first)},
                       {"variant", short_name(sorted[i].first.second)},
                       {"more", seconds_text(sorted[i].second)},
                       {"low", json_number(sorted[i].second.low)},
                       {"middle", json_number(sorted[i].second.middle)},
                       {"high", json_number(sorted[i].second.high)}});
  }
  values["epochs"] = std::move(out);
  values["epochs_more"] = sorted.size() > most_epochs ? Json(sorted.size() - most_epochs) : Json();
}

void add_plot(Json& values, const PullRequest& change) {
  std::vector<PlottedRatio> rows;
  std::size_t more = 0;
  for (const Standing standing :
       {Standing::slower, Standing::accepted, Standing::faster, Standing::undecided}) {
    for (const PageRow& row : page_rows(change, standing)) {
      if (row.verdict->ratio.coverage <= 0) continue;
      if (rows.size() < most_plotted) {
        rows.push_back({row.verdict->key, row.verdict->ratio});
      } else {
        ++more;
      }
    }
  }
  values["plot"] = interval_plot(rows);
  values["plot_more"] = more > 0 ? Json(more) : Json();
}

/// One command for all of these rows: by their keys, by their variants where these are too many, else the
/// whole run.
std::string repeated(const std::string& command, const std::vector<PageRow>& rows) {
  if (rows.empty() || command.empty() || command.size() > most_command_bytes) return "";
  const auto with = [&](const std::set<std::string>& names, const char* end) {
    std::string all;
    for (const std::string& one : names) all += (all.empty() ? "" : "|") + expression_for(one);
    return command + " -k " + shell_word(names.size() == 1 ? "^" + all + end : "^(" + all + ")" + end);
  };
  std::set<std::string> keys, variants;
  for (const PageRow& row : rows) {
    keys.insert(row.verdict->key);
    variants.insert(variant_group(row.verdict->key));
  }
  if (keys.size() <= 3 || variants.size() * 2 > keys.size()) {
    if (std::string out = with(keys, "$"); out.size() <= most_command_bytes) return out;
  }
  if (std::string out = with(variants, ""); out.size() <= most_command_bytes) return out;
  return command;
}

/// Where nothing was measured, as of identical machine code, the reason says all, once for many trials.
bool has_line(const PageRow& row) {
  const ComparedRow& verdict = *row.verdict;
  const bool open = verdict.standing == Standing::same || verdict.standing == Standing::undecided ||
                    verdict.standing == Standing::not_comparable;
  return verdict.standing != Standing::skipped &&
         (!open || (verdict.launches > 0 && verdict.ratio.coverage > 0));
}

/// Each reason once, with the row it holds for or how many.
Json reasons_of(Standing standing, const std::vector<PageRow>& rows) {
  Json out = Json::array();
  if (standing == Standing::added || standing == Standing::gone) return out;
  std::vector<const ComparedRow*> with_reason;
  for (const PageRow& row : rows) {
    if (standing != Standing::same || !has_line(row)) with_reason.push_back(row.verdict);
  }
  for (const SharedReason& one : shared_reasons(with_reason)) {
    if (out.size() == most_lines) break;
    out.push_back(Json{{"key", one.trials == 1 ? short_name(one.first->key) : ""},
                       {"many", one.trials == 1 ? "" : fmt::format("{} trials", one.trials)},
                       {"why", short_line(one.text)}});
  }
  return out;
}

/// What rows are sorted by: a time or a ratio. Empty where it is not known.
Json sort_value(double value) { return value > 0 ? json_number(value) : Json(""); }

Json row_values(const PageRow& row) {
  const ComparedRow& verdict = *row.verdict;
  std::string interval = interval_in_words(verdict);
  const std::string limit = interval.empty() ? "" : limit_in_words(verdict),
                    figures = figures_in_words(verdict);
  if (!interval.empty()) {
    interval += fmt::format(" ({:.0f} %{})", 100 * verdict.ratio.coverage,
                            verdict.ratio.basis == Basis::slices ? " over slices" : "");
  }
  return Json{{"mark", mark(listed_as(verdict))},
              {"state", to_string(verdict.standing)},
              {"ratio", sort_value(verdict.ratio.middle)},
              {"key", short_name(verdict.key)},
              {"before_seconds", sort_value(row.trial->before_seconds)},
              {"after_seconds", sort_value(row.trial->after_seconds)},
              {"before", short_name(row.trial->before)},
              {"after", short_name(row.trial->after)},
              {"change", short_line(change_in_words(verdict) + (figures.empty() ? "" : "; " + figures))},
              {"interval", std::move(interval)},
              {"limit", limit}};
}

using TrialsByKey = std::map<std::string_view, const TrialResult*>;

TrialsByKey by_key(const std::vector<TrialResult>& trials) {
  TrialsByKey out;
  for (const TrialResult& trial : trials) out[trial.key] = &trial;
  return out;
}

double seconds_in(const TrialsByKey& trials, const std::string& key) {
  const auto found = trials.find(key);
  return found == trials.end() ? 0 : time_of(*found->second).middle;
}

PlottedSamples samples_of(std::string side, const TrialsByKey& trials, const std::string& key) {
  PlottedSamples out{std::move(side), {}};
  const auto found = trials.find(key);
  if (found == trials.end() || !is_measured(*found->second)) return out;
  for (const Launch& launch : found->second->launches) out.launches.push_back(seconds_of(launch));
  return out;
}

}  // namespace

PullRequest pull_request_of(const Comparison& comparison, const Results& before, const Results& after) {
  PullRequest out{.suite = after.suite,
                  .before_facts = before.machine.facts,
                  .after_facts = after.machine.facts,
                  .comparison = comparison};
  const TrialsByKey was_trials = by_key(before.trials), is_trials = by_key(after.trials),
                    again_trials = by_key(after.again);
  if (const std::string moved = machine_sentence(comparison); !moved.empty()) out.remarks.push_back(moved);
  std::ranges::copy(comparison.failures, std::back_inserter(out.remarks));
  std::ranges::copy(comparison.objections, std::back_inserter(out.remarks));
  if (const std::string none = withheld_sentence(before, after); !none.empty()) out.remarks.push_back(none);
  for (const LintFinding& one : lint(to_value(comparison))) out.remarks.push_back(in_words(one));
  auto was = times_in_words(before, before.trials), is = times_in_words(after, after.trials),
       again = times_in_words(after, after.again);
  for (const ComparedRow& verdict : comparison.rows) {
    ChangedTrial& trial = out.trials.emplace_back(
        ChangedTrial{.before = was[verdict.key],
                     .after = verdict.afresh ? again[verdict.key] : is[verdict.key],
                     .samples = {samples_of("before", was_trials, verdict.key),
                                 samples_of("now", verdict.afresh ? again_trials : is_trials, verdict.key)}});
    if (!trial.before.empty()) trial.before_seconds = seconds_in(was_trials, verdict.key);
    if (!trial.after.empty()) {
      trial.after_seconds = seconds_in(verdict.afresh ? again_trials : is_trials, verdict.key);
    }
  }
  return out;
}

Json pull_request_values(const PullRequest& change, std::size_t most_rows) {
  Json out = Json::object();
  out["outcome"] = short_line(change.outcome.empty() ? verdict_sentence(change.comparison) : change.outcome);
  out["counts"] = change.outcome.empty() ? "" : counts_sentence(change.comparison);
  add_lines(out, "remarks", "remarks_more", change.remarks);

  std::vector<PageRow> faults;
  for (const Standing standing : by_weight) {
    if (is_fault(standing)) std::ranges::copy(page_rows(change, standing), std::back_inserter(faults));
  }
  for (std::size_t i = 0; i < change.trials.size(); ++i) {
    const ComparedRow& verdict = change.comparison.rows[i];
    if (has_worse_figure(verdict) && !is_fault(verdict.standing)) {
      faults.push_back({&verdict, &change.trials[i]});
    }
  }
  Json shown = Json::array();
  for (std::size_t i = 0; i < std::min(most_lines, faults.size()); ++i) {
    const ComparedRow& verdict = *faults[i].verdict;
    const std::string why =
        is_fault(verdict.standing) ? verdict.why : figures_in_words(verdict, /*worse_only=*/true);
    shown.push_back(
        Json{{"mark", mark(listed_as(verdict))}, {"key", short_name(verdict.key)}, {"why", short_line(why)}});
  }
  out["faults"] = std::move(shown);
  out["faults_more"] = faults.size() > most_lines ? Json(faults.size() - most_lines) : Json();

  const std::vector<PageRow> slower = page_rows(change, Standing::slower);
  const std::vector<Cause> causes = causes_of(slower);
  out["causes"] = causes_table(causes);
  out["causes_more"] = causes.size() > most_causes ? Json(causes.size() - most_causes) : Json();
  out["look"] = places_to_look(causes);
  add_epochs(out, slower);
  add_plot(out, change);
  add_lines(out, "seen", "seen_more", change.seen);
  std::vector<PageRow> again = faults;
  std::ranges::copy_if(slower, std::back_inserter(again),
                       [](const PageRow& row) { return row.verdict->crept_since.empty(); });
  out["command"] = repeated(change.command, again);
  add_lines(out, "differences", "differences_more", change.comparison.differences);
  add_lines(out, "notes", "notes_more", change.notes);

  Json sections = Json::array();
  std::size_t room = most_rows, left_out = 0;
  for (const Standing standing : by_weight) {
    const std::vector<PageRow> rows = page_rows(change, standing);
    if (rows.empty()) continue;
    Json table = Json::array();
    for (const PageRow& row : rows) {
      if (!has_line(row)) continue;
      if (table.size() < room) {
        table.push_back(row_values(row));
      } else {
        ++left_out;
      }
    }
    room -= table.size();
    sections.push_back(Json{{"title", fmt::format("{} {}", rows.size(), to_string(standing))},
                            {"rows", std::move(table)},
                            {"reasons", most_rows > 0 ? reasons_of(standing, rows) : Json::array()}});
  }
  out["sections"] = std::move(sections);
  out["left_out"] =
      left_out == 0 ? ""
                    : fmt::format("{} of {} trials are not listed, since a page is limited in size: {}.",
                                  count_text(static_cast<Index>(left_out)),
                                  count_text(static_cast<Index>(change.trials.size())),
                                  short_line(change.kept.empty() ? "the results have them" : change.kept));
  return out;
}

std::string pull_request_markdown(const PullRequest& change, std::size_t most_bytes) {
  for (std::size_t rows = usual_rows;; rows = rows * 2 / 3) {
    std::string out = document("pull_request.md", pull_request_values(change, rows));
    if (out.size() <= most_bytes) return out;
    if (rows > 0) continue;
    // Texts from outside fill the page by themselves: the outcome is what must be told.
    const Json all = pull_request_values(change, 0);
    out = document("pull_request.md",
                   pull_request_values({.outcome = all["outcome"].text(),
                                        .remarks = {all["counts"].text(), all["left_out"].text()}},
                                       0));
    return out.size() <= most_bytes ? out : "";
  }
}

std::string comparison_markdown(const Comparison& comparison, const Results& before, const Results& after) {
  return pull_request_markdown(pull_request_of(comparison, before, after));
}

}  // namespace assay
