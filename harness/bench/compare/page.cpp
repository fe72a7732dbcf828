// A comparison as a page: what a pull request is told, all rows of it, and pictures.
#include "bench/compare/fields.hpp"
#include "bench/compare/pull_request.hpp"
#include "bench/compare/row_text.hpp"
#include "bench/compare/words.hpp"
#include "core/markup/template.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace assay {
namespace {

/// A table of more rows is folded: what comes after it would be far below.
constexpr std::size_t few_trials = 100;
/// Rows beyond these are in the table alone: nobody looks at a thousand intervals.
constexpr std::size_t most_forest_rows = 40, most_strips = 40;

/// Rows that readers look for come first.
int rank_of(Standing standing) {
  switch (standing) {
    case Standing::slower: return 0;
    case Standing::accepted: return 1;
    case Standing::faster: return 2;
    case Standing::undecided: return 3;
    default: return 4;
  }
}

/// Positions of the trials that have an interval, the largest change first within each standing.
std::vector<std::size_t> ranked(const Comparison& comparison) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    const Interval& ratio = comparison.rows[i].ratio;
    if (ratio.coverage > 0 && std::isfinite(ratio.middle) && ratio.middle > 0) out.push_back(i);
  }
  std::ranges::stable_sort(out, {}, [&](std::size_t i) {
    const ComparedRow& verdict = comparison.rows[i];
    return std::pair(rank_of(verdict.standing), -std::abs(std::log(verdict.ratio.middle)));
  });
  return out;
}

Json facts_table(const std::vector<Fact>& before, const std::vector<Fact>& after) {
  Json out = Json::array();
  const auto add = [&](const Fact& fact, const std::string& was, const std::string& is) {
    out.push_back(Json{
        {"name", fact.name}, {"was", was}, {"is", is}, {"differs", was != is}, {"decides", fact.decides}});
  };
  const auto value_in = [](const std::vector<Fact>& facts, const std::string& name) {
    const auto found = std::ranges::find(facts, name, &Fact::name);
    return found == facts.end() ? std::string("not known") : found->value;
  };
  for (const Fact& fact : after) add(fact, value_in(before, fact.name), fact.value);
  for (const Fact& fact : before) {
    if (std::ranges::find(after, fact.name, &Fact::name) == after.end()) add(fact, fact.value, "not known");
  }
  return out;
}

/// What an epoch of each suite takes more.
Json epochs_plot(const Json& epochs) {
  std::vector<PlottedInterval> rows;
  for (const Json& one : epochs.items()) {
    const auto number = [&](const char* name) {
      return one[name].is_number() ? one[name].number() : std::numeric_limits<double>::quiet_NaN();
    };
    const std::string name = one["suite"].text() + " with " + one["variant"].text();
    rows.push_back({.name = name,
                    .title = name + ": " + one["more"].text() + " longer",
                    .low = number("low"),
                    .middle = number("middle"),
                    .high = number("high"),
                    .look = Look::worse});
  }
  if (rows.empty()) return {};
  return forest_plot("What an epoch takes longer", "seconds more per epoch", rows, PlotScale::seconds);
}

Json samples_of_all(const PullRequest& change) {
  Json out = Json::array();
  for (std::size_t i = 0; i < change.trials.size(); ++i) {
    Json sides = Json::object();
    for (const PlottedSamples& side : change.trials[i].samples) {
      Json launches = Json::array();
      for (const auto& launch : side.launches) {
        Json values = Json::array();
        for (const double value : launch) values.push_back(json_number(shortened(value)));
        launches.push_back(std::move(values));
      }
      if (!launches.empty()) sides[side.name] = std::move(launches);
    }
    if (sides.empty()) continue;
    out.push_back(
        Json{{"key", change.comparison.rows[i].key},
             {"unit", change.trials[i].scale == PlotScale::ratios ? "time by that of the base" : "s"},
             {"samples", std::move(sides)}});
  }
  return out;
}

}  // namespace

Look look_of(Standing standing) {
  switch (standing) {
    case Standing::slower: return Look::worse;
    case Standing::faster: return Look::better;
    case Standing::accepted:
    case Standing::undecided: return Look::open;
    default: return Look::equal;
  }
}

Json verdicts_plot(const Comparison& comparison) {
  std::vector<PlottedInterval> rows;
  double limit = 0, least = std::numeric_limits<double>::infinity();
  const std::vector<std::size_t> all = ranked(comparison);
  const Standing first = all.empty() ? Standing::same : comparison.rows[all.front()].standing;
  for (const std::size_t i : all) {
    const ComparedRow& verdict = comparison.rows[i];
    // Among many, those that stayed the same are no news.
    const bool no_news =
        rank_of(verdict.standing) == rank_of(Standing::same) && rank_of(first) != rank_of(Standing::same);
    if (rows.size() == most_forest_rows || (no_news && all.size() > most_forest_rows)) break;
    rows.push_back({.name = fmt::format("{} {}", mark(verdict.standing), verdict.key),
                    .title = verdict.key + ": " + in_words(verdict),
                    .low = verdict.ratio.low,
                    .middle = verdict.ratio.middle,
                    .high = verdict.ratio.high,
                    .look = look_of(verdict.standing)});
    limit = std::max(limit, verdict.limit);
    least = std::min(least, verdict.limit);
  }
  if (rows.empty()) return {};
  std::vector<std::pair<double, std::string>> lines;
  if (std::isfinite(least) && least > 1) {
    lines.emplace_back(least, fmt::format("{} {:.3g}x", limit > least ? "least limit" : "limit", least));
  }
  return forest_plot("Time now by time before, with intervals", "time now / before: right of 1x is slower",
                     rows, PlotScale::ratios, lines, all.size() - rows.size());
}

Page pull_request_page(const PullRequest& change) {
  Page out;
  Json values = pull_request_values(change, std::numeric_limits<std::size_t>::max());
  Json rows = Json::array(), reasons = Json::array();
  for (const Json& section : values["sections"].items()) {
    for (const Json& row : section["rows"].items()) rows.push_back(row);
    for (const Json& reason : section["reasons"].items()) {
      Json with_title = reason;
      with_title["title"] = section["title"];
      reasons.push_back(std::move(with_title));
    }
  }
  values["few"] = rows.size() <= few_trials;
  values["rows"] = std::move(rows);
  values["reasons"] = std::move(reasons);
  values["suite"] = change.suite;
  values["facts"] = facts_table(change.before_facts, change.after_facts);

  const auto show = [&](const char* name, Json plot) {
    if (!plot.is_null()) out.plots.emplace_back(name, plot);
    values[name] = std::move(plot);
  };
  show("forest", verdicts_plot(change.comparison));
  show("epochs_plot", epochs_plot(values["epochs"]));
  Json strips = Json::array();
  std::size_t sampled = 0;
  for (const std::size_t i : ranked(change.comparison)) {
    const ChangedTrial& trial = change.trials[i];
    if (std::ranges::all_of(trial.samples, [](const PlottedSamples& one) { return one.launches.empty(); }))
      continue;
    if (++sampled > most_strips) continue;
    const ComparedRow& verdict = change.comparison.rows[i];
    const Json plot = strip_plot("Samples of " + verdict.key, trial.samples, trial.scale);
    out.plots.emplace_back(fmt::format("samples_{}", sampled), plot);
    strips.push_back(Json{{"key", verdict.key}, {"words", in_words(verdict)}, {"strip", plot}});
  }
  values["strips_more"] = sampled > most_strips ? Json(sampled - most_strips) : Json();
  values["strips"] = std::move(strips);
  values["comparison_json"] = to_json(change.comparison);
  values["samples_json"] = samples_of_all(change).dump();
  out.html = document("comparison.html", values);
  return out;
}

}  // namespace assay
