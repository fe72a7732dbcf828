#include "bench/compare/pull_request.hpp"

#include "bench/compare/judge.hpp"
#include "bench/compare/words.hpp"
#include "core/json/lint.hpp"
#include "core/markup/document.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/command.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace assay {
namespace {

using doc::Block;
using doc::Details;
using doc::List;
using doc::Table;
using doc::Text;
using Blocks = std::vector<Block>;

// A page can be read in a minute: more lines are counted.
constexpr std::size_t most_lines = 8, most_causes = 8, most_epochs = 6, most_plotted = 16;
/// Names from outside may have any length; those of real trials are shorter than this.
constexpr std::size_t most_name_bytes = 160, most_line_bytes = 400, most_command_bytes = 4000;
constexpr std::size_t usual_rows = 400;
/// A page folds a table of more rows: the rest of the page would be far below.
constexpr std::size_t few_trials = 100;
/// Rows beyond these are in the table alone: nobody looks at a thousand intervals.
constexpr std::size_t most_forest_rows = 40, most_strips = 40;

Text name(const std::string& key) { return doc::code(abridged(key, most_name_bytes)); }
std::string short_line(const std::string& text) { return abridged(text, most_line_bytes); }

List list_of(const std::vector<std::string>& lines) {
  List out{.most = most_lines};
  for (const std::string& line : lines) out.items.emplace_back(Text(short_line(line)));
  return out;
}

struct PageRow {
  const ComparedRow* compared;
  const ChangedTrial* trial;
};
using PageRows = std::vector<PageRow>;

/// Rows whose time has that standing, the largest change first.
PageRows page_rows(const PullRequest& change, Standing standing) {
  PageRows out;
  for (const std::size_t i : rows_of(change.comparison, standing, standing_of_time)) {
    if (i < change.trials.size()) out.push_back({&change.comparison.rows[i], &change.trials[i]});
  }
  return out;
}

/// Rows that fail whatever their time: the fault itself, or a worse figure.
PageRows failing_rows(const PullRequest& change) {
  PageRows out;
  for (const Standing standing : standings_by_weight) {
    if (is_fault(standing)) std::ranges::copy(page_rows(change, standing), std::back_inserter(out));
  }
  for (std::size_t i = 0; i < change.trials.size(); ++i) {
    const ComparedRow& row = change.comparison.rows[i];
    if (has_worse_figure(row) && !is_fault(row.standing)) out.push_back({&row, &change.trials[i]});
  }
  return out;
}

List faults_list(const PageRows& rows) {
  List out{.most = most_lines};
  for (const auto& [row, trial] : rows) {
    const std::string why = is_fault(row->standing) ? row->why : figures_in_words(*row, /*worse_only=*/true);
    out.items.emplace_back(mark(listed_as(*row)) + Text(" ") + name(row->key) + ": " + short_line(why));
  }
  return out;
}

/// The operation and the variant of a key, without the tier: `gemm/simd` of `gemm/simd@avx2/m=1#2`.
std::string variant_group(const std::string& key) {
  const auto trial = trial_key(key);
  return trial ? trial->operation + "/" + trial->variant.substr(0, trial->variant.find('@')) : key;
}

/// Rows that became slower by one change. Without a known cause, those of one variant.
struct Cause {
  std::string cause, variant;
  PageRows rows;
};

/// The cause with most slower trials first.
std::vector<Cause> causes_of(const PageRows& slower) {
  std::vector<Cause> out;
  for (const PageRow& row : slower) {
    const std::string& cause = row.trial->cause;
    const bool named = cause.empty() && trial_key(row.compared->key);
    const std::string variant = named ? variant_group(row.compared->key) : "";
    auto known = std::ranges::find_if(
        out, [&](const Cause& one) { return one.cause == cause && one.variant == variant; });
    if (known == out.end()) known = out.insert(out.end(), {cause, variant, {}});
    known->rows.push_back(row);
  }
  std::ranges::stable_sort(out, std::greater{}, [](const Cause& one) { return one.rows.size(); });
  return out;
}

Blocks causes_table(const std::vector<Cause>& causes) {
  if (causes.empty()) return {};
  Table out{.columns = doc::columns("!what_changed; !slowed; !by; !worst"), .most = most_causes};
  for (const Cause& one : causes) {
    const ComparedRow &worst = *one.rows.front().compared, &mildest = *one.rows.back().compared;
    const std::string least = factor_text(mildest.ratio.middle, mildest.limit),
                      most = factor_text(worst.ratio.middle, worst.limit);
    out.rows.push_back({!one.cause.empty()    ? name(one.cause)
                        : one.variant.empty() ? Text("not known")
                                              : "not known: " + name(one.variant),
                        quantity_text(std::ssize(one.rows), "trial"),
                        (least == most ? most : least + " to " + most) + "x",
                        in_words(worst) + Text(" in ") + name(worst.key)});
  }
  return {out,
          doc::soft("A trial is slower only where its whole interval, in brackets, lies above the limit.")};
}

/// Where to look, once for all trials of a cause that say the same.
Blocks places_to_look(const std::vector<Cause>& causes) {
  Blocks out;
  for (const Cause& one : causes) {
    if (out.size() == 2 * most_causes) break;
    const std::vector<std::string>& pointers = one.rows.front().trial->pointers;
    if (pointers.empty()) continue;
    std::vector<std::string> lines = pointers;
    lines.resize(std::min(lines.size(), most_lines));
    for (std::string& text : lines) text.erase(0, std::min(text.size(), text.find_first_not_of(' ')));
    const std::size_t more = one.rows.size() - 1;
    out.emplace_back(name(one.rows.front().compared->key) +
                     (more > 0 ? fmt::format(" and {} more:", more) : ":"));
    out.emplace_back(list_of(lines));
  }
  return out;
}

/// Seconds that an epoch of a suite takes more when every case is run by one variant.
struct SlowerEpoch {
  std::string suite, variant;
  Interval more;
};

/// The sums over the cases that became slower, largest first. The ends are those of all intervals together,
/// which is wider than their sum deserves.
std::vector<SlowerEpoch> slower_epochs(const PageRows& slower) {
  std::map<std::pair<std::string, std::string>, Interval> sums;
  for (const PageRow& row : slower) {
    const std::string& key = row.compared->key;
    const auto trial = trial_key(key);
    const std::string variant =
        trial ? fmt::format("{}/{}#{}", trial->operation, trial->variant, trial->threads) : key;
    for (const EpochCost& cost : row.trial->epochs) {
      Interval& sum = sums[{cost.suite, variant}];
      sum.low += cost.seconds.low;
      sum.middle += cost.seconds.middle;
      sum.high += cost.seconds.high;
      sum.coverage = cost.seconds.coverage;
    }
  }
  std::vector<SlowerEpoch> out;
  for (const auto& [names, sum] : sums) out.push_back({names.first, names.second, sum});
  std::ranges::stable_sort(out, std::greater{}, [](const SlowerEpoch& one) { return one.more.middle; });
  return out;
}

Table epochs_table(const std::vector<SlowerEpoch>& epochs) {
  Table out{.columns = doc::columns("!an_epoch_of; !with; !takes"), .most = most_epochs};
  for (const SlowerEpoch& one : epochs)
    out.rows.push_back({name(one.suite), name(one.variant), seconds_text(one.more) + " longer"});
  return out;
}

/// The ratios drawn with letters.
doc::Fence drawn_ratios(const PullRequest& change) {
  std::vector<PlottedRatio> rows;
  std::size_t more = 0;
  for (const Standing standing : standings_by_weight) {
    if (!may_have_moved(standing)) continue;
    for (const auto& [row, trial] : page_rows(change, standing)) {
      if (row->ratio.coverage <= 0) continue;
      if (rows.size() < most_plotted) {
        rows.push_back({row->key, row->ratio});
      } else {
        ++more;
      }
    }
  }
  doc::Fence out{.lines = interval_plot(rows), .language = "text"};
  if (more > 0) out.lines.push_back(fmt::format("and {} more, in the tables below", more));
  return out;
}

/// Repeats all of these rows with one command: by their keys, by their variants where the keys are too many,
/// else the whole run.
std::string repeated(const std::string& command, const PageRows& rows) {
  if (rows.empty() || command.empty() || command.size() > most_command_bytes) return "";
  const auto with = [&](const std::set<std::string>& names, const char* end) {
    std::string all;
    for (const std::string& one : names) all += (all.empty() ? "" : "|") + expression_for(one);
    return command + " -k " + shell_word(names.size() == 1 ? "^" + all + end : "^(" + all + ")" + end);
  };
  std::set<std::string> keys, variants;
  for (const PageRow& row : rows) {
    keys.insert(row.compared->key);
    variants.insert(variant_group(row.compared->key));
  }
  if (keys.size() <= 3 || variants.size() * 2 > keys.size()) {
    if (std::string out = with(keys, "$"); out.size() <= most_command_bytes) return out;
  }
  if (std::string out = with(variants, ""); out.size() <= most_command_bytes) return out;
  return command;
}

/// Repeats all that fails or became slower in one step.
doc::Fence again(const PullRequest& change, PageRows failing, const PageRows& slower) {
  std::ranges::copy_if(slower, std::back_inserter(failing),
                       [](const PageRow& row) { return row.compared->crept_since.empty(); });
  const std::string command = repeated(change.command, failing);
  return command.empty() ? doc::Fence{} : doc::Fence{.lines = {command}};
}

/// Rows without a measurement, as of identical machine code, have their reason, once for many trials.
bool has_line(const ComparedRow& row) {
  const bool open = row.standing == Standing::same || row.standing == Standing::undecided ||
                    row.standing == Standing::not_comparable;
  return row.standing != Standing::skipped && (!open || (row.launches > 0 && row.ratio.coverage > 0));
}

/// Each reason once, with the row it holds for or how many.
List reasons_of(Standing standing, const PageRows& rows, const std::string& before = "") {
  List out;
  if (standing == Standing::added || standing == Standing::gone) return out;
  std::vector<const ComparedRow*> with_reason;
  for (const auto& [row, trial] : rows) {
    if (standing != Standing::same || !has_line(*row)) with_reason.push_back(row);
  }
  for (const auto& [finding, trials] : shared_findings(with_reason)) {
    if (out.items.size() == most_lines) break;
    out.items.emplace_back(before + (trials == 1 ? name(finding.key) : fmt::format("{} trials", trials)) +
                           ": " + short_line(finding.why));
  }
  return out;
}

/// A time, empty where it is not known.
Text time_cell(double seconds, bool is_rate) {
  return seconds <= 0 ? Text() : is_rate ? Text(figure(1 / seconds)) : Text(doc::seconds(seconds));
}

/// All trials, the columns that a comment has no room for on a page alone.
Table trials_table(bool on_page) {
  Table out{.columns = doc::columns(
                "!mark; !state; !trial; !before [s]; !now [s]; !change = time now against before; "
                "!ratio [times]; !interval; !limit [ratio]"),
            .sorts = true};
  out.columns.front().name = " ";
  for (doc::Column& one : out.columns) {
    const bool for_pages = one.tag == "state" || one.tag == "ratio";
    one.data_only = for_pages ? !on_page : one.tag == "interval" && on_page;
  }
  return out;
}

std::vector<Text> row_of_table(const PageRow& row) {
  const ComparedRow& compared = *row.compared;
  std::string interval = interval_in_words(compared);
  const std::string figures = figures_in_words(compared);
  const bool has_interval = !interval.empty();
  if (has_interval) {
    interval += fmt::format(" ({:.0f} %{})", 100 * compared.ratio.coverage,
                            compared.ratio.basis == Basis::slices ? " over slices" : "");
  }
  return {mark(listed_as(compared)),
          to_string(compared.standing),
          name(compared.key),
          time_cell(row.trial->before, row.trial->is_rate),
          time_cell(row.trial->after, row.trial->is_rate),
          short_line(change_in_words(compared) + (figures.empty() ? "" : "; " + figures)),
          compared.ratio.middle > 0 ? Text(doc::amount(compared.ratio, "times")) : Text(),
          interval,
          has_interval ? Text(limit_in_words(compared)) : Text()};
}

/// Seconds per call; 0 if the trial was not measured.
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

/// Positions of the rows that have an interval: those that may have moved by weight, then the others, the
/// largest change first each.
std::vector<std::size_t> ranked(const Comparison& comparison) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    const Interval& ratio = comparison.rows[i].ratio;
    if (ratio.coverage > 0 && std::isfinite(ratio.middle) && ratio.middle > 0) out.push_back(i);
  }
  std::ranges::stable_sort(out, {}, [&](std::size_t i) {
    const ComparedRow& row = comparison.rows[i];
    return std::tuple(!may_have_moved(row.standing),
                      may_have_moved(row.standing) ? weight_of(row.standing) : 0,
                      -std::abs(std::log(row.ratio.middle)));
  });
  return out;
}

Plot epochs_plot(const std::vector<SlowerEpoch>& epochs) {
  std::vector<PlottedInterval> rows;
  for (const SlowerEpoch& one : epochs) {
    if (rows.size() == most_epochs) break;
    const std::string label = abridged(one.suite + " with " + one.variant, 2 * most_name_bytes);
    rows.push_back({.name = label,
                    .title = label + ": " + seconds_text(one.more) + " longer",
                    .value = one.more,
                    .look = Look::worse});
  }
  return forest_plot("What an epoch takes longer", "seconds more per epoch", rows, PlotScale::seconds);
}

Json samples_of_all(const PullRequest& change) {
  Json out = Json::array();
  for (std::size_t i = 0; i < change.trials.size(); ++i) {
    Json sides = Json::object();
    for (const PlottedSamples& side : change.trials[i].samples) {
      if (side.launches.empty()) continue;
      sides[side.name] = Form<std::vector<std::vector<double>>>::json(side.launches, {.seven_digits = true});
    }
    if (sides.empty()) continue;
    out.push_back(
        Json{{"key", change.comparison.rows[i].key},
             {"unit", change.trials[i].scale == PlotScale::ratios ? "time by that of the base" : "s"},
             {"samples", std::move(sides)}});
  }
  return out;
}

Table facts_table(const std::vector<Fact>& before, const std::vector<Fact>& after) {
  Table out{.columns = doc::columns("!differs; !fact; !before; !now; !must_be_equal_to_compare")};
  out.columns.front().name = " ";
  const auto add = [&](const Fact& fact) {
    const std::string was = fact_value(before, fact.name, "not known"),
                      is = fact_value(after, fact.name, "not known");
    out.rows.push_back({was == is ? "" : "≠", fact.name, was, is, fact.decides ? "yes" : "no"});
  };
  for (const Fact& fact : after) add(fact);
  for (const Fact& fact : before) {
    if (find_fact(after, fact.name) == nullptr) add(fact);
  }
  return out;
}

/// Says how far the machine, or all of the code, moved; empty below one percent.
std::string machine_sentence(const Comparison& comparison) {
  if (std::max(comparison.machine_moved, 1 / comparison.machine_moved) < 1.01) return "";
  if (comparison.no_naive) {
    return fmt::format(
        "All trials took {:.2f} times as long as before (median). None is naive, so this may be the code or "
        "the machine.",
        comparison.machine_moved);
  }
  return fmt::format(
      "The naive variants took {:.2f} times as long as before: the machine. Ratios leave it out.",
      comparison.machine_moved);
}

/// Says why there is a side without times; empty where both have them.
std::string withheld_sentence(const Results& before, const Results& after) {
  std::string out;
  for (const auto& [side, results] : {std::pair{"before", &before}, std::pair{"after", &after}}) {
    if (results->mixed_machines.empty()) continue;
    out += fmt::format("{}Times {} are withheld: {}.", out.empty() ? "" : " ", side, results->mixed_machines);
  }
  return out;
}

std::string outcome_line(const PullRequest& change) {
  return short_line(change.outcome.empty() ? comparison_sentence(change.comparison) : change.outcome);
}
/// Without an outcome the first line has the counts.
std::string counts_line(const PullRequest& change) {
  return change.outcome.empty() ? "" : counts_sentence(change.comparison);
}

std::string markdown_with(const PullRequest& change, std::size_t most_rows) {
  const PageRows failing = failing_rows(change), slower = page_rows(change, Standing::slower);
  const std::vector<Cause> causes = causes_of(slower);
  Blocks out{Text(counts_line(change)), list_of(change.remarks), faults_list(failing)};
  const auto add = [&](Blocks more) { std::ranges::move(more, std::back_inserter(out)); };
  add(causes_table(causes));
  add({epochs_table(slower_epochs(slower)), drawn_ratios(change), list_of(change.seen)});
  if (const doc::Fence fence = again(change, failing, slower); !fence.lines.empty())
    add({Text("Again, all of what is slower or fails:"), fence});
  add({Details{"Where to look", places_to_look(causes)}});
  std::size_t room = most_rows, left_out = 0;
  for (const Standing standing : standings_by_weight) {
    const PageRows rows = page_rows(change, standing);
    Table table = trials_table(/*on_page=*/false);
    std::size_t dropped = 0;
    for (const PageRow& row : rows) {
      if (!has_line(*row.compared)) continue;
      if (table.rows.size() < room) {
        table.rows.push_back(row_of_table(row));
      } else {
        ++dropped;
      }
    }
    room -= table.rows.size();
    left_out += dropped;
    if (dropped > 0 && table.rows.empty()) table.instead = "No row had room.";
    if (rows.empty()) continue;
    add({Details{fmt::format("{} {}", rows.size(), to_string(standing)),
                 {std::move(table), most_rows > 0 ? reasons_of(standing, rows) : List{}}}});
  }
  add({Details{"What differs between the machines and builds", {list_of(change.comparison.differences)}},
       Details{"How it was measured", {list_of(change.notes)}}});
  if (left_out > 0) {
    out.emplace_back(
        Text(fmt::format("{} of {} trials are not listed, since a page is limited in size: {}.",
                         count_text(static_cast<Index>(left_out)), count_text(std::ssize(change.trials)),
                         short_line(change.kept.empty() ? "the results have them" : change.kept))));
  }
  out.insert(out.begin(), Text(outcome_line(change)));
  return "### " + doc::to_markdown(out);
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
  const bool was_known = before.mixed_machines.empty(), is_known = after.mixed_machines.empty();
  for (const ComparedRow& row : comparison.rows) {
    const TrialsByKey& now = row.afresh ? again_trials : is_trials;
    out.trials.push_back(
        {.before = was_known ? seconds_in(was_trials, row.key) : 0,
         .after = is_known ? seconds_in(now, row.key) : 0,
         .samples = {samples_of("before", was_trials, row.key), samples_of("now", now, row.key)}});
  }
  return out;
}

std::string pull_request_markdown(const PullRequest& change, std::size_t most_bytes) {
  for (std::size_t rows = usual_rows;; rows = rows * 2 / 3) {
    std::string out = markdown_with(change, rows);
    if (out.size() <= most_bytes) return out;
    if (rows > 0) continue;
    // Texts from outside fill the page by themselves: the outcome is what must be told.
    const PullRequest least{.outcome = outcome_line(change),
                            .remarks = {counts_line(change), "Nothing else had room: " + change.kept}};
    out = markdown_with(least, 0);
    return out.size() <= most_bytes ? out : "";
  }
}

std::string comparison_markdown(const Comparison& comparison, const Results& before, const Results& after) {
  return pull_request_markdown(pull_request_of(comparison, before, after));
}

Look look_of(Standing standing) {
  switch (standing) {
    case Standing::slower: return Look::worse;
    case Standing::faster: return Look::better;
    case Standing::accepted:
    case Standing::probably_slower:
    case Standing::undecided: return Look::open;
    default: return Look::equal;
  }
}

Plot ratios_plot(const Comparison& comparison) {
  std::vector<PlottedInterval> rows;
  double limit = 0, least = std::numeric_limits<double>::infinity();
  const std::vector<std::size_t> all = ranked(comparison);
  const bool any_moved = !all.empty() && may_have_moved(comparison.rows[all.front()].standing);
  for (const std::size_t i : all) {
    const ComparedRow& row = comparison.rows[i];
    // Among many, those that stayed the same are no news.
    const bool no_news = any_moved && !may_have_moved(row.standing);
    if (rows.size() == most_forest_rows || (no_news && all.size() > most_forest_rows)) break;
    rows.push_back({.name = fmt::format("{} {}", mark(row.standing), row.key),
                    .title = row.key + ": " + in_words(row),
                    .value = row.ratio,
                    .look = look_of(row.standing)});
    limit = std::max(limit, row.limit);
    least = std::min(least, row.limit);
  }
  std::vector<std::pair<double, std::string>> lines;
  if (std::isfinite(least) && least > 1) {
    lines.emplace_back(least, fmt::format("{} {:.3g}x", limit > least ? "least limit" : "limit", least));
  }
  return forest_plot("Time now by time before, with intervals", "time now / before: right of 1x is slower",
                     rows, PlotScale::ratios, lines, all.size() - rows.size());
}

Page pull_request_page(const PullRequest& change) {
  const PageRows failing = failing_rows(change), slower = page_rows(change, Standing::slower);
  const std::vector<Cause> causes = causes_of(slower);
  const std::vector<SlowerEpoch> epochs = slower_epochs(slower);
  Blocks found = causes_table(causes);
  std::ranges::move(places_to_look(causes), std::back_inserter(found));

  Table trials = trials_table(/*on_page=*/true);
  List reasons;
  for (const Standing standing : standings_by_weight) {
    const PageRows rows = page_rows(change, standing);
    for (const PageRow& row : rows) {
      if (has_line(*row.compared)) trials.rows.push_back(row_of_table(row));
    }
    List own = reasons_of(standing, rows, fmt::format("{} {}: ", rows.size(), to_string(standing)));
    std::ranges::move(own.items, std::back_inserter(reasons.items));
  }
  const bool few = trials.rows.size() <= few_trials;
  Blocks all_trials{Text("No trial was compared."), reasons};
  if (!trials.rows.empty())
    all_trials.front() = Details{"Every trial that was compared", {std::move(trials)}, few};

  Blocks strips;
  std::size_t sampled = 0;
  for (const std::size_t i : ranked(change.comparison)) {
    const ChangedTrial& trial = change.trials[i];
    if (std::ranges::all_of(trial.samples, [](const PlottedSamples& one) { return one.launches.empty(); }))
      continue;
    if (++sampled > most_strips) continue;
    const ComparedRow& row = change.comparison.rows[i];
    strips.push_back(
        Details{doc::code(row.key) + ": " + in_words(row),
                {doc::Picture{fmt::format("samples_{}", sampled),
                              strip_plot("Samples of " + row.key, trial.samples, trial.scale)}}});
  }
  if (sampled > 0) {
    strips.insert(
        strips.begin(),
        doc::soft("A drift, a step or a single bad process start shows here, and not in an interval."));
  }
  if (sampled > most_strips) {
    strips.emplace_back(
        Text(fmt::format("The samples of {} more trials are in the data below.", sampled - most_strips)));
  }

  doc::Fence command = again(change, failing, slower);
  const Text repeat = command.lines.empty() ? "" : "Measure again what is slower or fails:";
  List differences = list_of(change.comparison.differences);
  const char* const which =
      differences.items.empty() ? "No fact of machine or build is known to differ." : "These differ:";
  const Plot forest = ratios_plot(change.comparison);
  const char* const legend =
      forest.empty() ? ""
                     : "✗ slower, ▲ faster, ◆ undecided or accepted, ● same. Slower trials come first; the "
                       "table below has every trial, and of many only those that moved are drawn.";
  return doc::to_page(
      {.title = outcome_line(change),
       .kicker = change.suite.empty() ? Text() : "Comparison of suite " + doc::code(change.suite),
       .sections =
           {{.blocks = {Text(counts_line(change)), list_of(change.seen), list_of(change.remarks)}},
            {.tag = "faults",
             .title = "What fails, whatever its time",
             .short_title = "Faults",
             .blocks = {faults_list(failing)}},
            {.tag = "causes",
             .title = "What changed, and what it slowed",
             .short_title = "Causes",
             .blocks = std::move(found)},
            {.blocks = {repeat, std::move(command)}},
            {.tag = "ratios",
             .title = "Ratios with their intervals",
             .short_title = "Ratios",
             .blocks = {doc::Picture{"forest", forest}, doc::Paragraph{legend, doc::Paragraph::Look::soft}}},
            {.tag = "epochs",
             .title = "What an epoch takes longer",
             .short_title = "Epochs",
             .blocks = {doc::Picture{"epochs_plot", epochs_plot(epochs)}, epochs_table(epochs)}},
            {.tag = "trials", .title = "All trials", .blocks = std::move(all_trials)},
            {.tag = "samples",
             .title = "Samples in run order",
             .short_title = "Samples",
             .blocks = std::move(strips)},
            {.tag = "machine",
             .title = "Machine and build",
             .blocks = {Text(which), std::move(differences),
                        Details{"All facts", {facts_table(change.before_facts, change.after_facts)}}}},
            {.title = "How it was measured", .blocks = {list_of(change.notes)}, .depth = 1},
            {.tag = "data",
             .title = "Data",
             .blocks = {Text("This file holds its verdicts as JSON in the element ") +
                        doc::code("assay-comparison") + ", and the samples in run order in " +
                        doc::code("assay-samples") + "."}}},
       .data = {{"assay-comparison", to_json(change.comparison)},
                {"assay-samples", samples_of_all(change).dump()}}});
}

}  // namespace assay
