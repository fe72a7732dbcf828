// Rows in words: no signed percentages, since tools disagree on what their sign means.
#include "bench/compare/words.hpp"

#include "bench/compare/judge.hpp"
#include "core/machine/fields.hpp"
#include "core/plan/trial_key.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

namespace assay {
namespace {

struct Sign {
  std::string_view word, mark;
};
Sign sign_of(Standing standing) {
  switch (standing) {
    case Standing::same: return {"same", "="};
    case Standing::faster: return {"faster", "▲"};
    case Standing::not_slower: return {"not slower", "≤"};
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

bool has_ratio(const ComparedRow& row) { return is_judged(row.standing) && row.ratio.middle > 0; }

/// Low and high end, for faster rows as factors of speed, with the decimals that tell them apart; nothing
/// where none do.
std::optional<std::pair<std::string, std::string>> ends(const ComparedRow& row) {
  if (!has_ratio(row) || (is_open(row.standing) && row.ratio.coverage <= 0)) return std::nullopt;
  double low = row.ratio.low, high = row.ratio.high;
  if (row.standing == Standing::faster) low = 1 / std::exchange(high, 1 / low);
  for (int more = 0; more < 3; ++more) {
    std::pair out{factor_text(low, row.limit, more), factor_text(high, row.limit, more)};
    if (out.first != out.second) return out;
  }
  return std::nullopt;
}

/// "5.3 % more"
std::string change_text(double before, double after) {
  const double percent = 100 * std::abs(after - before) / std::abs(before);
  return fmt::format("{} % {}",
                     percent < 0.1 ? fmt::format("{:.1g}", percent) : fmt::format("{:.1f}", percent),
                     after > before ? "more" : "less");
}

/// "3 faster, 2 undecided"; standings without a trial are left out.
std::string counted(const Comparison& comparison, std::initializer_list<Standing> standings) {
  std::string out;
  for (const Standing standing : standings) {
    const std::size_t count = comparison.count(standing);
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, to_string(standing));
  }
  return out;
}

/// "1 figure worse, 2 better, 9 as before"; empty where no figure was compared.
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

class Deciding {
 public:
  Deciding(const Comparison& comparison, const ComparisonRun& run, const FailurePolicy& policy)
      : comparison_(comparison), run_(run), policy_(policy) {
    for (const ComparedRow& row : comparison_.rows) {
      // Rows of identical machine code are the same, or slower by drift, without a launch.
      if (is_open(row.standing) || (is_judged(row.standing) && row.launches > 0)) ++compared_;
      if (row.standing == Standing::same && row.launches == 0) ++identical_;
    }
  }

  Outcome outcome() const {
    Outcome out = by_times();
    if (!comparison_.unfit.empty()) out.add(Word::unfit, comparison_.unfit);
    if (!comparison_.objections.empty() && !policy_.bisection) {
      out.add(Word::expired, fmt::format("{}", fmt::join(comparison_.objections, "; ")));
    }
    if (count(Standing::slower) > 0 || std::ranges::any_of(comparison_.rows, has_worse_figure)) {
      out.add(Word::regression, regression());
    }
    if (count(Standing::impossible) > 0) out.add(Word::impossible, impossibility());
    if (count(Standing::wrong) > 0) out.add(Word::wrong, disagreement());
    std::vector<std::string> failed;
    for (const ComparedRow& row : comparison_.rows) {
      if (has_failed(row.standing)) failed.push_back(row.key + " " + row.why);
    }
    if (!failed.empty()) out.add(Word::crashed, fmt::format("{}", fmt::join(failed, "; ")));
    if (run_.partial) {
      out.add(Word::interrupted, fmt::format("{} of {} trials were measured{}", run_.measured,
                                             comparison_.rows.size() - count(Standing::gone),
                                             against_something() ? "; nothing is decided" : ""));
    }
    return out;
  }

 private:
  std::size_t count(Standing standing) const { return comparison_.count(standing); }
  std::size_t left_open() const { return count(Standing::undecided) + count(Standing::probably_slower); }
  bool against_something() const { return run_.against != Against::nothing; }

  /// ", 2 undecided, 1 gone"; empty when all trials were judged.
  std::string rest() const {
    const std::string out = unjudged_text(comparison_);
    return out.empty() ? out : ", " + out;
  }

  Outcome by_times() const {
    if (!run_.nothing_to_do.empty()) return {Word::nothing_to_do, run_.nothing_to_do};
    const std::size_t absent = count(Standing::skipped) + count(Standing::gone);
    if (count(Standing::skipped) > 0 && absent == comparison_.rows.size()) {
      return {Word::skipped, "nothing selected runs on this machine"};
    }
    if (!against_something()) {
      if (run_.measured == 0) return {Word::not_measured, "no trial has a time"};
      return {Word::measured, fmt::format("all {} trials agree with the oracle; nothing was compared",
                                          comparison_.rows.size() - count(Standing::skipped))};
    }
    if (compared_ == 0) return uncompared();
    if (left_open() == compared_) {
      return {Word::undecided,
              fmt::format("{}no verdict could be reached on any of {} trials{}", after(), compared_, rest())};
    }
    const std::size_t accepted = count(Standing::accepted);
    const std::string figures = figures_sentence(comparison_);
    const std::string found =
        fmt::format("none slower{}{}{}{}", count(Standing::probably_slower) > 0 ? " beyond doubt" : "",
                    accepted > 0 ? fmt::format(", {} accepted", accepted) : "", rest(),
                    figures.empty() ? "" : "; " + figures);
    if (Outcome out = judged(fmt::format("{} trials compared{}, {}", compared_, spent(), found));
        out.word != Word::passed ||
        (10 * left_open() <= compared_ && count(Standing::probably_slower) == 0)) {
      return out;
    }
    return {Word::decided, fmt::format("{} of {}{}: {}", compared_ - left_open(), compared_, spent(), found)};
  }

  /// Nothing that was measured could be compared.
  Outcome uncompared() const {
    if (run_.against == Against::baseline) {
      if (run_.measured == 0) return {Word::not_measured, "no trial has a time"};
      return {Word::not_comparable,
              "nothing was comparable with the baseline; see above for what differs" + rest()};
    }
    const std::size_t apart = count(Standing::not_comparable);
    if (10 * apart > identical_) {
      return {Word::not_comparable,
              fmt::format("nothing was measured, and {} trial{} of both builds cannot be compared", apart,
                          apart == 1 ? "" : "s")};
    }
    if (identical_ == 0) {
      return {Word::not_comparable, "the two builds have no trial in common that runs here"};
    }
    return judged(fmt::format("all {} trials that {} are identical machine code{}", identical_,
                              apart > 0 ? "can be compared" : "both builds have", rest()));
  }

  Outcome judged(std::string sentence) const {
    const bool open = policy_.undecided_fails
                          ? !unjudged_text(comparison_).empty()
                          : policy_.bisection && left_open() + count(Standing::not_comparable) > 0;
    return {open ? Word::undecided : Word::passed, std::move(sentence)};
  }

  std::string spent() const { return run_.seconds > 0 ? fmt::format(" in {:.0f} s", run_.seconds) : ""; }
  std::string after() const { return run_.seconds > 0 ? fmt::format("after {:.0f} s, ", run_.seconds) : ""; }

  /// Counts rows that were measured as slower here apart from rows that crept: each step of these was below
  /// the limit, and rows of identical machine code were not even measured.
  std::string regression() const {
    std::size_t slower = 0, crept = 0, summed = 0;
    std::string release;
    for (const ComparedRow& row : comparison_.rows) {
      if (row.ratio.low > 0 && row.ratio.basis == Basis::launches) ++summed;
      if (row.standing != Standing::slower) continue;
      ++(row.crept_since.empty() ? slower : crept);
      if (!row.crept_since.empty()) release = row.crept_since;
    }
    std::string out;
    if (slower > 0) {
      out = fmt::format("{} of {} trials {} slower than {}", slower, compared_, slower == 1 ? "is" : "are",
                        run_.against == Against::base ? "the base"
                        : slower == 1                 ? "its limit"
                                                      : "their limit");
    }
    if (crept > 0) {
      out += fmt::format("{}{} of {} trials {} slower than at release {}, by the sum of the steps since",
                         out.empty() ? "" : "; ", crept, summed, crept == 1 ? "is" : "are", release);
    }
    if (const std::string figures = worse_figures(); !figures.empty()) {
      out += (out.empty() ? "" : "; ") + figures;
    }
    return out + rest();
  }

  /// "height 1,234 → 1,300 bytes (5.3 % more) in memory_pool_plan/by_size/blocks=1000#1 and 2 others"
  std::string worse_figures() const {
    const auto& rows = comparison_.rows;
    const auto count = std::ranges::count_if(rows, has_worse_figure);
    if (count == 0) return "";
    const ComparedRow& first = *std::ranges::find_if(rows, has_worse_figure);
    std::string out = fmt::format("{} in {}", figures_in_words(first, /*worse_only=*/true), first.key);
    if (count > 1) out += fmt::format(" and {}", quantity_text(count - 1, "other"));
    return out;
  }

  std::vector<std::string> variants_that_are(Standing standing) const {
    std::vector<std::string> out;
    for (const ComparedRow& row : comparison_.rows) {
      if (row.standing != standing || reports_an_error(row)) continue;
      const auto trial = trial_key(row.key);
      std::string name = trial ? trial->operation + "/" + trial->variant : row.key;
      if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
    }
    return out;
  }
  std::string_view of_the_head() const { return run_.against == Against::base ? " of the head" : ""; }

  std::string disagreement() const {
    std::vector<std::string> found;
    if (const auto variants = variants_that_are(Standing::wrong); !variants.empty()) {
      found.push_back(fmt::format("{}{} disagree{} with the oracle and {} not timed",
                                  fmt::join(variants, ", "), of_the_head(), variants.size() == 1 ? "s" : "",
                                  variants.size() == 1 ? "was" : "were"));
    }
    for (const ComparedRow& row : comparison_.rows) {
      if (!reports_an_error(row)) continue;
      found.push_back(fmt::format("{}{} {}", row.key, of_the_head(), row.why));
    }
    return fmt::format("{}", fmt::join(found, "; "));
  }

  std::string impossibility() const {
    const auto variants = variants_that_are(Standing::impossible);
    return fmt::format("{}{} {} faster than any kernel can be here, and {} not used",
                       fmt::join(variants, ", "), of_the_head(), variants.size() == 1 ? "is" : "are",
                       variants.size() == 1 ? "its time is" : "their times are");
  }

  const Comparison& comparison_;
  const ComparisonRun& run_;
  const FailurePolicy& policy_;
  std::size_t compared_ = 0, identical_ = 0;
};

}  // namespace

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
         standing == Standing::not_slower || is_open(standing);
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

std::string factor_text(double ratio, double limit, int more) {
  const int decimals = ratio >= 100 ? 0 : limit > 1 && limit < 1.05 ? 3 : 2;
  return fmt::format("{:.{}f}", ratio, decimals + more);
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
  const bool has_factor = row.standing == Standing::undecided || row.standing == Standing::not_slower;
  return std::string(to_string(row.standing)) +
         (has_factor && has_ratio(row) ? " " + factor_text(ratio, limit) : "");
}

std::string interval_in_words(const ComparedRow& row) {
  const auto both = ends(row);
  return both ? both->first + " to " + both->second : "";
}

std::string in_words(const ComparedRow& row) {
  const auto both = ends(row);
  if (both) return fmt::format("{} [{}, {}]", change_in_words(row), both->first, both->second);
  return change_in_words(row) + (has_ratio(row) && row.launches > 1 ? ", no spread" : "");
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

Standing listed_as(const ComparedRow& row) {
  return has_worse_figure(row) && !is_fault(row.standing) ? Standing::slower : row.standing;
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
                    decided = count(Standing::same) + count(Standing::not_slower) + count(Standing::faster) +
                              accepted;
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
      counted(comparison, {Standing::accepted, Standing::probably_slower, Standing::faster,
                           Standing::undecided, Standing::not_slower, Standing::same,
                           Standing::not_comparable, Standing::added, Standing::gone, Standing::skipped});
  if (!counts.empty()) out += "; " + counts;
  const std::string figures = figures_sentence(comparison);
  return figures.empty() ? out : out + "; " + figures;
}

std::string counts_sentence(const Comparison& comparison) {
  return counted(comparison, {Standing::crashed, Standing::timed_out, Standing::wrong, Standing::impossible,
                              Standing::slower, Standing::accepted, Standing::probably_slower,
                              Standing::faster, Standing::undecided, Standing::not_slower, Standing::same,
                              Standing::not_comparable, Standing::added, Standing::gone, Standing::skipped});
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

void describe(Fields& f, FigureChange& change) {
  ASSAY_FIELDS(f, change, before, after);
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
  ASSAY_FIELDS(f, comparison, differences, unfit, objections);
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

Outcome outcome_of(const Comparison& comparison, const ComparisonRun& run, const FailurePolicy& policy) {
  return Deciding(comparison, run, policy).outcome();
}

Comparison not_compared(const Results& results, const std::string& why) {
  Comparison out;
  for (const TrialResult& trial : results.trials) {
    Finding finding = found_alone(trial).value_or(Finding{Standing::not_comparable, why});
    out.rows.push_back({.key = trial.key, .standing = finding.standing, .why = std::move(finding.why)});
  }
  return out;
}

Outcome outcome_of(const Results& results) {
  return outcome_of(results, not_compared(results, ""), Against::nothing);
}

Outcome outcome_of(const Results& results, const Comparison& rows, Against against,
                   const FailurePolicy& policy) {
  const auto measured =
      std::ranges::count_if(results.trials, [](const TrialResult& trial) { return is_measured(trial); });
  ComparisonRun run{
      .against = against, .measured = static_cast<std::size_t>(measured), .partial = results.partial};
  // Test runners start more shards than there may be cases, and take anything but success for a failure.
  if (results.shard && results.trials.empty()) run.nothing_to_do = in_words(*results.shard);
  return outcome_of(rows, run, policy);
}

std::string unjudged_text(const Comparison& comparison) {
  return counted(comparison,
                 {Standing::probably_slower, Standing::undecided, Standing::not_comparable, Standing::gone});
}

}  // namespace assay
