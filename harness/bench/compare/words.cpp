// Rows in words: no signed percentages, since tools disagree on what their sign means.
#include "bench/compare/words.hpp"

#include "bench/compare/fields.hpp"
#include "core/machine/fields.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <utility>

namespace assay {
namespace {

struct Sign {
  std::string_view word, mark;
};
Sign sign_of(Standing standing) {
  switch (standing) {
    case Standing::same: return {"same", "="};
    case Standing::faster: return {"faster", "▲"};
    case Standing::slower: return {"slower", "✗"};
    case Standing::accepted: return {"accepted", "~"};
    case Standing::probably_slower: return {"probably slower", "≥"};
    case Standing::undecided: return {"undecided", "?"};
    case Standing::not_comparable: return {"not comparable", "≠"};
    case Standing::wrong: return {"wrong", "‼"};
    case Standing::skipped: return {"skipped", "·"};
    case Standing::added: return {"added", "+"};
    case Standing::gone: return {"gone", "−"};
    case Standing::crashed: return {"crashed", "‼"};
    case Standing::timed_out: return {"timed out", "‼"};
    case Standing::impossible: return {"impossible", "‼"};
  }
  return {"unknown", " "};
}

bool has_ratio(const ComparedRow& row) {
  return is_judged(row.standing) && row.ratio.middle > 0 &&
         (!is_open(row.standing) || row.ratio.coverage > 0);
}

/// Low and high end, for faster rows as factors of speed.
std::pair<double, double> ends(const ComparedRow& row) {
  if (row.standing == Standing::faster) return {1 / row.ratio.high, 1 / row.ratio.low};
  return {row.ratio.low, row.ratio.high};
}

/// "5.3 % more"
std::string change_text(double before, double after) {
  const double percent = 100 * std::abs(after - before) / std::abs(before);
  return fmt::format("{} % {}",
                     percent < 0.1 ? fmt::format("{:.1g}", percent) : fmt::format("{:.1f}", percent),
                     after > before ? "more" : "less");
}

}  // namespace

std::string counted(const Comparison& comparison, std::initializer_list<Standing> standings) {
  std::string out;
  for (const Standing standing : standings) {
    const std::size_t count = comparison.count(standing);
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, to_string(standing));
  }
  return out;
}

std::string_view to_string(Standing standing) { return sign_of(standing).word; }

Standing standing_of(const Failure& failure) {
  return failure.kind == Failure::Kind::timed_out ? Standing::timed_out : Standing::crashed;
}

bool has_failed(Standing standing) {
  return standing == Standing::crashed || standing == Standing::timed_out;
}

bool is_fault(Standing standing) {
  return standing == Standing::wrong || standing == Standing::impossible || has_failed(standing);
}

bool may_have_moved(Standing standing) {
  return standing == Standing::slower || standing == Standing::accepted || standing == Standing::faster ||
         is_open(standing);
}

bool is_open(Standing standing) {
  return standing == Standing::undecided || standing == Standing::probably_slower;
}

std::size_t weight_of(Standing standing) {
  return static_cast<std::size_t>(std::ranges::find(standings_by_weight, standing) -
                                  standings_by_weight.begin());
}

std::vector<std::size_t> rows_of(const Comparison& comparison, Standing standing,
                                 Standing (*standing_of)(const ComparedRow&)) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    if (standing_of(comparison.rows[i]) == standing) out.push_back(i);
  }
  if (!may_have_moved(standing)) return out;
  std::ranges::stable_sort(out, std::greater{}, [&](std::size_t i) {
    const double ratio = comparison.rows[i].ratio.middle;
    return ratio > 0 ? std::max(ratio, 1 / ratio) : 0;
  });
  return out;
}

std::string factor_text(double ratio, double limit) {
  const int decimals = ratio >= 100 ? 0 : limit > 1 && limit < 1.05 ? 3 : 2;
  return fmt::format("{:.{}f}", ratio, decimals);
}

std::size_t Comparison::count(Standing standing) const {
  return static_cast<std::size_t>(std::ranges::count(rows, standing, &ComparedRow::standing));
}

std::string change_in_words(const ComparedRow& row) {
  const double ratio = row.ratio.middle, limit = row.limit;
  if (row.standing == Standing::slower) return factor_text(ratio, limit) + "x slower";
  if (row.standing == Standing::faster) return factor_text(1 / ratio, limit) + "x faster";
  if (row.standing == Standing::accepted) return "accepted " + factor_text(ratio, limit) + "x";
  if (row.standing == Standing::probably_slower) {
    return fmt::format("probably {}x slower ({:.1f} %)", factor_text(ratio, limit), 100 * row.chance);
  }
  if (row.standing == Standing::undecided && has_ratio(row)) return "undecided " + factor_text(ratio, limit);
  return std::string(to_string(row.standing));
}

std::string interval_in_words(const ComparedRow& row) {
  if (!has_ratio(row)) return "";
  const auto [low, high] = ends(row);
  return factor_text(low, row.limit) + " to " + factor_text(high, row.limit);
}

std::string in_words(const ComparedRow& row) {
  if (!has_ratio(row)) return change_in_words(row);
  const auto [low, high] = ends(row);
  return fmt::format("{} [{}, {}]", change_in_words(row), factor_text(low, row.limit),
                     factor_text(high, row.limit));
}

std::string limit_in_words(const ComparedRow& row) { return factor_text(row.limit, row.limit); }

bool reports_an_error(const ComparedRow& row) {
  return row.standing == Standing::wrong && row.why.starts_with("reports an error");
}

bool is_worse(const FigureChange& change) {
  if (change.accepted) return false;
  return change.after.better == Figure::Better::higher ? change.after.value < change.before.value
                                                       : change.after.value > change.before.value;
}

bool has_worse_figure(const ComparedRow& row) { return std::ranges::any_of(row.figures, is_worse); }

std::vector<FigureChange> changes_of(const std::vector<Figure>& before, const std::vector<Figure>& after) {
  std::vector<FigureChange> out;
  for (const Figure& now : after) {
    if (now.better == Figure::Better::neither) continue;
    const auto then = std::ranges::find(before, now.name, &Figure::name);
    if (then != before.end() && then->unit == now.unit) out.push_back({*then, now});
  }
  return out;
}

std::string in_words(const FigureChange& change) {
  const Figure &was = change.before, &is = change.after;
  if (was.value == is.value) return fmt::format("{} {} as before", is.name, with_unit(is.value, is.unit));
  // One unit for both, unless it is chosen by size.
  const std::string from = with_unit(was.value, is.unit == "s" ? "s" : "");
  return fmt::format("{} {} → {}{}{}{}", is.name, from, with_unit(is.value, is.unit),
                     was.value == 0 ? "" : fmt::format(" ({})", change_text(was.value, is.value)),
                     change.remark.empty() ? "" : ", ", change.remark);
}

std::string figures_in_words(const ComparedRow& row, bool worse_only) {
  std::string out;
  for (const FigureChange& one : row.figures) {
    if (worse_only && !is_worse(one)) continue;
    out += (out.empty() ? "" : ", ") + in_words(one);
  }
  return out;
}

std::string slower_in_words(const ComparedRow& row) {
  const std::string figures = figures_in_words(row, /*worse_only=*/true);
  if (row.standing != Standing::slower) return figures;
  return fmt::format("{}, limit {}{}{}", in_words(row), limit_in_words(row), figures.empty() ? "" : "; ",
                     figures);
}

std::string figures_sentence(const Comparison& comparison) {
  std::size_t worse = 0, accepted = 0, better = 0, equal = 0;
  for (const ComparedRow& row : comparison.rows) {
    for (const FigureChange& one : row.figures) {
      ++(is_worse(one)                         ? worse
         : one.accepted                        ? accepted
         : one.before.value == one.after.value ? equal
                                               : better);
    }
  }
  std::string out;
  for (const auto& [count, what] : {std::pair{worse, "worse"}, std::pair{accepted, "accepted"},
                                    std::pair{better, "better"}, std::pair{equal, "as before"}}) {
    if (count == 0) continue;
    out += out.empty() ? fmt::format("{} {}", quantity_text(static_cast<Index>(count), "figure"), what)
                       : fmt::format(", {} {}", count, what);
  }
  return out;
}

Standing listed_as(const ComparedRow& row) {
  return has_worse_figure(row) && !is_fault(row.standing) ? Standing::slower : row.standing;
}

bool is_urgent(const ComparedRow& row) {
  const Standing standing = listed_as(row);
  return is_fault(standing) || standing == Standing::slower || is_open(standing);
}

const ComparedRow* largest_slow_down(const Comparison& comparison, bool crept_too) {
  const ComparedRow* out = nullptr;
  for (const ComparedRow& row : comparison.rows) {
    if (row.standing != Standing::slower || (!crept_too && !row.crept_since.empty())) continue;
    if (out == nullptr || row.ratio.middle > out->ratio.middle) out = &row;
  }
  return out;
}

std::string comparison_sentence(const Comparison& comparison) {
  const std::size_t total = comparison.rows.size();
  if (total == 0) return "Nothing was compared: there are no trials";
  const auto reported = static_cast<std::size_t>(std::ranges::count_if(comparison.rows, reports_an_error));
  const auto count = [&](Standing standing) { return comparison.count(standing); };
  struct Fault {
    std::size_t trials;
    const char *one, *more;
  };
  std::string out;
  for (const auto& [trials, one, more] : std::initializer_list<Fault>{
           {count(Standing::wrong) - reported, "disagrees with the oracle", "disagree with the oracle"},
           {reported, "reports an error", "report an error"},
           {count(Standing::impossible), "is faster than any kernel can be",
            "are faster than any kernel can be"},
           {count(Standing::crashed), "crashed", "crashed"},
           {count(Standing::timed_out), "timed out", "timed out"}}) {
    if (trials > 0) out += fmt::format("{} of {} trials {}; ", trials, total, trials == 1 ? one : more);
  }
  if (const auto objections = std::ssize(comparison.objections); objections > 0) {
    out += quantity_text(objections, "acceptance") + " ran out; ";
  }
  const std::size_t slower = count(Standing::slower), accepted = count(Standing::accepted),
                    decided = count(Standing::same) + count(Standing::faster) + accepted;
  if (!comparison.unfit.empty()) {
    out += "the machine is unfit: nothing is decided";
  } else if (!comparison.comparable) {
    out += "not comparable: the machines or builds differ";
  } else if (slower > 0) {
    out += fmt::format("{} of {} trials {} slower than {} limit", slower, total, slower == 1 ? "is" : "are",
                       slower == 1 ? "its" : "their");
  } else if (decided + count(Standing::probably_slower) + count(Standing::undecided) == 0) {
    out += fmt::format("none of {} trials could be compared", total);
  } else if (decided == 0) {
    out += fmt::format("no verdict could be reached on any of {} trials", total);
  } else {
    out += fmt::format("none of {} trials is slower than its limit{}", total,
                       accepted > 0 ? " without being accepted" : "");
  }
  const std::string counts =
      counted(comparison,
              {Standing::accepted, Standing::probably_slower, Standing::faster, Standing::undecided,
               Standing::same, Standing::not_comparable, Standing::added, Standing::gone, Standing::skipped});
  if (!counts.empty()) out += "; " + counts;
  const std::string figures = figures_sentence(comparison);
  return figures.empty() ? out : out + "; " + figures;
}

std::string counts_sentence(const Comparison& comparison) {
  return counted(comparison, {Standing::crashed, Standing::timed_out, Standing::wrong, Standing::impossible,
                              Standing::slower, Standing::accepted, Standing::probably_slower,
                              Standing::faster, Standing::undecided, Standing::same, Standing::not_comparable,
                              Standing::added, Standing::gone, Standing::skipped});
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

std::string withheld_sentence(const Results& before, const Results& after) {
  std::string out;
  for (const auto& [side, results] : {std::pair{"before", &before}, std::pair{"after", &after}}) {
    if (results->mixed_machines.empty()) continue;
    out += fmt::format("{}Times {} are withheld: {}.", out.empty() ? "" : " ", side, results->mixed_machines);
  }
  return out;
}

std::string_view mark(Standing standing) { return sign_of(standing).mark; }

std::string printable(std::string_view text, std::size_t width) {
  return abridged(visible(text, Lines::one), width);
}

std::vector<std::pair<Finding, std::size_t>> shared_findings(const std::vector<const ComparedRow*>& rows) {
  std::vector<std::pair<Finding, std::size_t>> out;
  std::map<std::pair<Standing, std::string>, std::size_t> places;
  for (const ComparedRow* row : rows) {
    if (row->why.empty()) continue;
    std::string why = row->why.substr(0, row->why.find(": time after"));
    const auto [known, is_new] = places.try_emplace({row->standing, why}, out.size());
    if (is_new) out.push_back({{row->standing, std::move(why), row->key}, 0});
    ++out[known->second].second;
  }
  return out;
}

// Beside the types, where argument-dependent lookup finds them.
void describe(Fields& f, FigureChange& change) {
  f("before", change.before);
  f("after", change.after);
  f.derived("worse", is_worse(change));
  f("accepted", change.accepted, {.terse = true, .about = "worse, and the ledger allows it"});
  f("remark", change.remark, {.terse = true, .about = "what the ledger says of it"});
}

void describe(Fields& f, ComparedRow& row) {
  f("key", row.key);
  f.derived("standing", std::string(to_string(row.standing)));
  f("limit", row.limit, {.about = "ratio above which it is slower"});
  f("why", row.why);
  f("ratio", row.ratio, {.about = "time after / time before, without what the machine did by itself"});
  f("time_ratio", row.time_ratio, {.about = "as measured"});
  f("to_naive", row.to_naive);
  f("launches", row.launches, {.about = "behind the ratio"});
  f("chance", row.chance, {.terse = true, .about = "that it is slower, where it probably is"});
  f("visible", row.visible, {.terse = true, .about = "smallest ratio that would have been called slower"});
  f("figures", row.figures, {.terse = true, .about = "of its output, judged exactly: worse ones fail"});
}

void describe(Fields& f, Comparison& comparison) {
  f.schema("assay.comparison/1");
  f("comparable", comparison.comparable);
  f("machine_moved", comparison.machine_moved, {.about = "median time ratio of the naive variants"});
  f("differences", comparison.differences);
  f("unfit", comparison.unfit);
  f("objections", comparison.objections);
  f("verdicts", comparison.rows);
}

void describe(Fields& f, TrialLimit& limit) {
  f.only<TrialLimit>();
  f("filter", limit.filter, {.about = "regular expression of names, as of -k"});
  f("limit", limit.limit, {.least = 1.001, .most = 100, .about = "time ratio that is still the same"});
}

void describe(Fields& f, TrialLimits& limits) {
  f.only<TrialLimits>();
  f.schema("assay.limits/1");
  f("limits", limits.limits, {.about = "the first whose filter selects a trial is its limit"});
}

std::string to_json(const Comparison& comparison) { return json_text(to_value(comparison)); }

}  // namespace assay
