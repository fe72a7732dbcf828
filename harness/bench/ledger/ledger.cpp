// Checks everything that is written into a ledger, and applies it to a comparison: slow-downs accepted,
// acceptances run out, rows that crept.
#include "bench/ledger/ledger.hpp"

#include "assay/error.hpp"
#include "bench/compare/judge.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace assay {
namespace {

constexpr std::size_t fewest_digits = 7, most_digits = 64;

/// Accepts text that does not move the cursor of a terminal and has at least one letter.
bool is_readable(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c > 0x20; }) &&
         std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

const std::string& last_commit(const Ledger& ledger) {
  return ledger.steps.empty() ? ledger.release_commit : ledger.steps.back().head;
}

void require_clean(const std::string& commit, const std::string& which) {
  if (is_commit(commit)) return;
  throw Error("--record-step",
              fmt::format("the {} is {}, which is no commit that others could find", which,
                          commit.empty() ? "of no single commit" : "\"" + commit + "\""),
              "compare programs that were built from clean checkouts, one commit on each side");
}

/// Two weeks are one iteration of most teams: time to remove a slow-down before the gate turns red.
constexpr std::chrono::days warned_before{14};

constexpr std::size_t keys_named = 3;

class Application {
 public:
  Application(Comparison& comparison, const Ledger& ledger, const Occasion& occasion)
      : comparison_(comparison),
        ledger_(ledger),
        occasion_(occasion),
        position_(steps_before(ledger, occasion.base)) {}

  std::vector<std::string> findings() {
    say(heading());
    for (const Acceptance& one : ledger_.acceptances) state(one);
    for (ComparedRow& compared : comparison_.rows) {
      for (FigureChange& change : compared.figures) weigh(compared.key, change);
      if (compared.standing == Standing::slower) weigh(compared);
    }
    sum_up();
    return std::move(out_);
  }

 private:
  void say(std::string line) { out_.push_back(std::move(line)); }

  std::string heading() const {
    if (ledger_.release.empty()) return fmt::format("ledger of {}: no release to count from", ledger_.suite);
    return fmt::format("ledger of {}: release {} of {}, {} step{} since", ledger_.suite, ledger_.release,
                       date_text(ledger_.released_on), ledger_.steps.size(),
                       ledger_.steps.size() == 1 ? "" : "s");
  }

  bool is_over(const Acceptance& one) const { return occasion_.today > one.until; }

  /// Returns the acceptance of the time, or of a figure; null if there is none.
  const Acceptance* acceptance_of(const std::string& key, const std::string& figure = "") const {
    const auto found = std::ranges::find_if(
        ledger_.acceptances, [&](const Acceptance& one) { return one.key == key && one.figure == figure; });
    return found == ledger_.acceptances.end() ? nullptr : &*found;
  }

  /// The steps between the release and the base of this comparison.
  std::span<const Step> steps() const { return std::span(ledger_.steps).first(position_.value_or(0)); }

  void state(const Acceptance& one) {
    const std::string what = fmt::format("{} until {} ({})", in_words(one), date_text(one.until), one.reason);
    const std::string withdrawal = fmt::format(
        "    {}assay record --suite {} --withdraw '{}'{}",
        one.figure.empty() ? "when the slow-down is removed:  " : "when the figure is mended:      ",
        occasion_.suite, one.key, one.figure.empty() ? "" : fmt::format(" --figure '{}'", one.figure));
    if (is_over(one)) {
      say("  EXPIRED: accepted was " + what);
      say(withdrawal);
      say(fmt::format(
          "    to accept it for longer:        assay record --suite {} {} --until DATE --reason TEXT",
          occasion_.suite, accepting_options(one)));
      comparison_.objections.push_back(fmt::format("the acceptance of {}{} ran out on {}",
                                                   one.figure.empty() ? "" : one.figure + " of ", one.key,
                                                   date_text(one.until)));
      return;
    }
    const auto left = one.until - occasion_.today;
    const bool soon = left <= warned_before;
    say(fmt::format("  accepted: {}{}{}", what,
                    soon ? fmt::format("; runs out in {} days", left.count()) : "",
                    is_compared(one) ? "" : "; not in this comparison"));
    if (soon) say(withdrawal);
  }

  bool is_compared(const Acceptance& one) const {
    const auto row = std::ranges::find(comparison_.rows, one.key, &ComparedRow::key);
    return row != comparison_.rows.end() &&
           (one.figure.empty() || std::ranges::any_of(row->figures, [&](const FigureChange& change) {
              return change.after.name == one.figure;
            }));
  }

  /// Whether a worse figure is one that was accepted.
  void weigh(const std::string& key, FigureChange& change) const {
    const Acceptance* one = acceptance_of(key, change.after.name);
    if (one == nullptr || !is_worse(change)) return;
    const std::string until = date_text(one->until);
    if (is_over(*one)) {
      change.remark = fmt::format("its acceptance ran out on {}", until);
      return;
    }
    Figure worst = change.after;
    worst.value = one->value;
    change.accepted = !is_worse({.before = worst, .after = change.after});
    change.remark = fmt::format("{} the {} accepted until {}{}", change.accepted ? "within" : "beyond",
                                with_unit(worst.value, worst.unit), until,
                                change.accepted ? fmt::format(" ({})", one->reason) : "");
  }

  /// Returns the part of an accepted slow-down that is in the base already, as a logarithm. Counts
  /// significant steps only, so that noise does not use up the allowance.
  double used(const Acceptance& one) const {
    DriftSum sum;
    for (const Step& step : steps()) {
      const auto row = step.rows.find(one.key);
      if (step.date >= one.accepted_on && row != step.rows.end()) sum.add(row->second);
    }
    return sum.terms == 0 ? 0 : std::max(0.0, sum.low((1 - standing_coverage) / 2));
  }

  /// Whether a slower row is one that was accepted.
  void weigh(ComparedRow& compared) const {
    const Acceptance* one = acceptance_of(compared.key);
    if (one == nullptr) return;
    if (is_over(*one)) {
      compared.why += fmt::format("; its acceptance ran out on {}", date_text(one->until));
      return;
    }
    if (position_ && one->release != ledger_.release) {
      compared.why += fmt::format(
          "; it was accepted until {}, before release {}, and counts as in the base already: an acceptance "
          "covers nothing that is compared with a later release or what follows it. To accept this, withdraw "
          "that one and accept it anew",
          date_text(one->until), ledger_.release);
      return;
    }
    const double spent = used(*one);
    if (std::log(compared.ratio.high) > std::log(one->ratio) - spent) {
      compared.why +=
          fmt::format("; this is more than the {:.4g}x accepted until {}", one->ratio, date_text(one->until));
      if (spent > 0)
        compared.why += fmt::format(", of which {:.3g}x is in the base already", std::exp(spent));
      return;
    }
    compared.standing = Standing::accepted;
    compared.why = fmt::format("accepted up to {:.4g}x until {} ({}): {}", one->ratio, date_text(one->until),
                               one->reason, compared.why);
  }

  /// Why there is no sum to judge; empty when there is one.
  std::string obstacle() const {
    // Each part would spend the chance of a false alarm that all have together.
    if (occasion_.part) return "this is one shard: `assay merge` tests the sums of all";
    if (ledger_.release.empty()) {
      return fmt::format("no release is set: assay record --suite {} --release TEXT", occasion_.suite);
    }
    if (occasion_.base.empty()) return "what this was compared with is of no single commit";
    if (!position_) {
      return fmt::format("this was compared with {}, which is neither the release ({}) nor the end of a step",
                         occasion_.base, ledger_.release_commit);
    }
    if (std::max(comparison_.machine_moved, 1 / comparison_.machine_moved) > farthest_drift) {
      return fmt::format("the machine moved by {:.2f}", comparison_.machine_moved);
    }
    return "";
  }

  /// Ratio above which the sum of a row has crept. An accepted slow-down within the sum does not count.
  double limit_of(const std::string& key) const {
    const Acceptance* one = acceptance_of(key);
    const bool covers = one != nullptr && !is_over(*one) && one->release == ledger_.release;
    return occasion_.drift_limit * (covers ? one->ratio : 1);
  }

  struct Tested {
    ComparedRow* compared;
    DriftSum sum;
  };

  /// Each trial with an estimate here, with its sum since the release.
  std::vector<Tested> tested() const {
    std::vector<Tested> out;
    for (ComparedRow& compared : comparison_.rows) {
      const auto estimate = estimate_of(compared);
      if (!estimate) continue;
      out.push_back({&compared, sum_of(steps(), compared.key)});
      out.back().sum.add(*estimate);
    }
    return out;
  }

  static std::string named(const std::vector<std::string>& keys) {
    return fmt::format("{}{}", fmt::join(std::span(keys).first(std::min(keys.size(), keys_named)), ", "),
                       keys.size() > keys_named ? ", ..." : "");
  }

  static std::string text(const DriftSum& sum) {
    const Interval ratio = sum.interval(standing_coverage);
    return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", ratio.middle, ratio.low, ratio.high);
  }

  void sum_up() {
    if (const std::string why = obstacle(); !why.empty()) return say("  drift: not tested, since " + why);
    const auto rows = tested();
    if (rows.empty()) return say("  drift: not tested, since no trial has an interval here");
    // A sum of identical machine code is exact, and no test.
    const auto uncertain = std::ranges::count_if(rows, [](const Tested& r) { return r.sum.variance > 0; });
    const double tail = drift_level / static_cast<double>(std::max<std::ptrdiff_t>(uncertain, 1));
    const auto largest = std::ranges::max_element(rows, {}, [](const Tested& r) { return r.sum.log_ratio; });
    say(fmt::format(
        "  drift: {} trials tested over {} steps and this one, limit {:.3g}, at most {:.0f} % false "
        "alarms together; most: {} {}",
        rows.size(), steps().size(), occasion_.drift_limit, 100 * drift_level, largest->compared->key,
        text(largest->sum)));
    for (const Tested& row : rows) judge_sum(row, tail);
    say_what_is_missing(rows);
  }

  void judge_sum(const Tested& row, double tail) {
    ComparedRow& compared = *row.compared;
    const double limit = limit_of(compared.key), low = std::exp(row.sum.low(tail));
    if (!(low > limit)) return;
    const std::string what = fmt::format(
        "takes {} as long as at release {}, after {} steps; for all trials together it is at least "
        "{:.3f}x, limit {:.3g}",
        text(row.sum), ledger_.release, row.sum.terms, low, limit);
    say(fmt::format("  CREPT: {} {}", compared.key, what));
    compared.why =
        fmt::format("by drift: {}; in this comparison {}: {}", what, in_words(compared), compared.why);
    compared.standing = Standing::slower;
    compared.ratio = row.sum.interval(standing_coverage);
    compared.limit = limit;
    compared.crept_since = ledger_.release;
  }

  /// A sum that lacks a term may be too small, and trials that are not here were not tested.
  void say_what_is_missing(const std::vector<Tested>& rows) {
    std::vector<std::string> incomplete;
    std::set<std::string> untested;
    for (const Step& step : steps()) {
      for (const auto& [key, estimate] : step.rows) untested.insert(key);
    }
    for (const Tested& row : rows) {
      untested.erase(row.compared->key);
      if (row.sum.terms < steps().size() + 1) incomplete.push_back(row.compared->key);
    }
    if (!incomplete.empty()) {
      say(fmt::format("  drift: {} trials lack an estimate in some step, so their sums may be too small: {}",
                      incomplete.size(), named(incomplete)));
    }
    if (!untested.empty()) {
      say(fmt::format("  drift: {} trials of the steps have no interval here and were not tested: {}",
                      untested.size(), named({untested.begin(), untested.end()})));
    }
  }

  Comparison& comparison_;
  const Ledger& ledger_;
  const Occasion& occasion_;
  std::optional<std::size_t> position_;
  std::vector<std::string> out_;
};

}  // namespace

bool is_commit(std::string_view text) {
  return text.size() >= fewest_digits && text.size() <= most_digits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool same_commit(std::string_view one, std::string_view other) {
  return is_commit(one) && is_commit(other) && (one.starts_with(other) || other.starts_with(one));
}

void accept(Ledger& ledger, Acceptance acceptance) {
  if (!is_readable(acceptance.reason)) {
    throw Error("--reason", "says nothing", "say in a line why this slow-down is worth its price");
  }
  const bool is_figure = is_readable(acceptance.figure) &&
                         acceptance.figure.find('\'') == std::string::npos && std::isfinite(acceptance.value);
  if (!acceptance.figure.empty() && !is_figure) {
    throw Error("--figure", fmt::format("{} up to {} is no figure", acceptance.figure, acceptance.value),
                "give its name and the worst value that is accepted, as height=1300");
  }
  if (acceptance.figure.empty() && (!(acceptance.ratio > 1) || !std::isfinite(acceptance.ratio))) {
    throw Error("--ratio", fmt::format("is {}, which accepts no slow-down", acceptance.ratio),
                "give the time after / time before, as 1.08");
  }
  if (acceptance.until < acceptance.accepted_on) {
    throw Error("--until",
                fmt::format("{} is past; today is {}", date_text(acceptance.until),
                            date_text(acceptance.accepted_on)),
                "name the last day on which the slow-down may still be there");
  }
  const auto known = std::ranges::find_if(ledger.acceptances, [&](const Acceptance& one) {
    return one.key == acceptance.key && one.figure == acceptance.figure;
  });
  if (known == ledger.acceptances.end()) {
    acceptance.release = ledger.release;
    ledger.acceptances.push_back(std::move(acceptance));
    return;
  }
  known->ratio = acceptance.ratio;
  known->value = acceptance.value;
  known->reason = std::move(acceptance.reason);
  known->until = acceptance.until;
}

void withdraw(Ledger& ledger, std::string_view key, std::string_view figure) {
  const auto is_meant = [&](const Acceptance& one) { return one.key == key && one.figure == figure; };
  if (std::erase_if(ledger.acceptances, is_meant) > 0) return;
  std::string known;
  for (const Acceptance& one : ledger.acceptances)
    known += fmt::format("\n    {}{}{}", one.key, one.figure.empty() ? "" : " --figure ", one.figure);
  throw Error(fmt::format("--withdraw {}{}{}", key, figure.empty() ? "" : " --figure ", figure),
              "was not accepted", known.empty() ? "the ledger has no acceptances" : "accepted are:" + known);
}

std::string in_words(const Acceptance& acceptance) {
  if (acceptance.figure.empty()) return fmt::format("{} up to {:.4g}x", acceptance.key, acceptance.ratio);
  return fmt::format("{} of {} up to {}", acceptance.figure, acceptance.key, count_text(acceptance.value));
}

std::string accepting_options(const Acceptance& acceptance) {
  return fmt::format("--accept '{}' {}", acceptance.key,
                     acceptance.figure.empty()
                         ? fmt::format("--ratio {}", acceptance.ratio)
                         : fmt::format("--figure '{}={}'", acceptance.figure, acceptance.value));
}

void begin_release(Ledger& ledger, const std::string& release, const std::string& commit, Date today) {
  if (!is_readable(release)) throw Error("--release", "names nothing", "give a tag or a commit");
  if (release == ledger.release) {
    throw Error("--release " + release, "is the release that the ledger counts from already",
                "nothing needs to be done");
  }
  const std::string& beginning = is_commit(release) ? release : commit;
  if (!is_commit(beginning)) {
    throw Error(
        "--release " + release,
        fmt::format("this program was built from \"{}\", which is no commit to count from", beginning),
        "run the program of a clean checkout of the release, or give the commit itself");
  }
  ledger.release = release;
  ledger.release_commit = beginning;
  ledger.released_on = today;
  ledger.steps.clear();
}

std::optional<std::size_t> steps_before(const Ledger& ledger, std::string_view commit) {
  for (std::size_t i = ledger.steps.size(); i > 0; --i) {
    if (same_commit(ledger.steps[i - 1].head, commit)) return i;
  }
  if (same_commit(ledger.release_commit, commit)) return 0;
  return std::nullopt;
}

void require_next(const Ledger& ledger, const std::string& base, const std::string& head) {
  if (ledger.release.empty()) {
    throw Error("--record-step",
                fmt::format("the ledger of suite {} has no release to count from", ledger.suite),
                "set one: assay record --suite FILE --release TEXT");
  }
  require_clean(base, "base");
  require_clean(head, "head");
  if (steps_before(ledger, head)) {
    throw Error("--record-step", fmt::format("the ledger has {} already", head),
                "gate without --record-step");
  }
  if (same_commit(base, last_commit(ledger))) return;
  throw Error("--record-step",
              fmt::format("the ledger ends at {}, and this comparison begins at {}: what was merged between "
                          "them would be missing from the sum since {}",
                          last_commit(ledger), base, ledger.release),
              fmt::format("compare with {} and record that, or begin a new sum: assay record --suite FILE "
                          "--release TEXT",
                          last_commit(ledger)));
}

Step step_of(const Comparison& comparison, const std::string& base, const std::string& head, Date date) {
  Step out{.base = base, .head = head, .date = date};
  const double moved = comparison.machine_moved;
  if (std::max(moved, 1 / moved) > farthest_drift) return out;
  for (const ComparedRow& row : comparison.rows) {
    if (const auto estimate = estimate_of(row)) out.rows[row.key] = *estimate;
  }
  return out;
}

std::optional<Estimate> estimate_of(const ComparedRow& row) {
  const bool selected = row.unselected_launches > 0;
  const Interval& ratio = selected ? row.unselected : row.ratio;
  const std::size_t launches = selected ? row.unselected_launches : row.launches;
  if (!(ratio.low > 0) || !std::isfinite(ratio.high) || ratio.basis != Basis::launches) return std::nullopt;
  Estimate out{.log_ratio = std::log(ratio.middle), .deviation = row.spread, .launches = launches};
  if (ratio.low == ratio.high && ratio.coverage > 0) return out;
  if (launches < 2 || ratio.coverage <= 0 || ratio.coverage >= 1) return std::nullopt;
  const double half_width = std::log(ratio.high / ratio.low) / 2;
  const double quantile = student_quantile((1 - ratio.coverage) / 2, static_cast<int>(launches) - 1);
  out.deviation = std::hypot(half_width / quantile, row.spread);
  return out;
}

void DriftSum::add(const Estimate& estimate) {
  log_ratio += estimate.log_ratio;
  ++terms;
  if (estimate.deviation == 0) return;
  const double square = estimate.deviation * estimate.deviation;
  variance += square;
  doubt += square * square / std::max(1.0, static_cast<double>(estimate.launches) - 1);
}

double DriftSum::low(double tail) const {
  if (variance == 0) return log_ratio;
  const int freedom = std::max(1, static_cast<int>(std::min(1e6, variance * variance / doubt)));
  return log_ratio - student_quantile(tail, freedom) * std::sqrt(variance);
}

Interval DriftSum::interval(double coverage) const {
  const double below = log_ratio - low((1 - coverage) / 2);
  return exponential({log_ratio - below, log_ratio, log_ratio + below, coverage});
}

DriftSum sum_of(std::span<const Step> steps, std::string_view key) {
  DriftSum out;
  for (const Step& step : steps) {
    const auto row = step.rows.find(std::string(key));
    if (row != step.rows.end()) out.add(row->second);
  }
  return out;
}

std::vector<std::string> apply(Comparison& comparison, const Ledger& ledger, const Occasion& occasion) {
  return Application(comparison, ledger, occasion).findings();
}

}  // namespace assay
