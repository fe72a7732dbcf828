// Applies a ledger to a comparison: slow-downs accepted, acceptances run out, rows that crept.
#include "bench/compare/judge.hpp"
#include "bench/compare/launches.hpp"
#include "bench/ledger/ledger.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace assay {
namespace {

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
        "    {}assay record --suite {} {}",
        one.figure.empty() ? "when the slow-down is removed:  " : "when the figure is mended:      ",
        occasion_.suite, withdrawing_options(one));
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

  /// Whether there is a row of it, and such a figure.
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
          "covers "
          "nothing that is compared with a later release or what follows it. To accept this, withdraw that "
          "one "
          "and accept it anew",
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

  std::string named(const std::vector<std::string>& keys) const {
    const std::vector<std::string> first(
        keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(std::min(keys.size(), keys_named)));
    return fmt::format("{}{}", fmt::join(first, ", "), keys.size() > keys_named ? ", ..." : "");
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
    std::vector<std::string> incomplete, untested;
    for (const Tested& row : rows) {
      if (row.sum.terms < steps().size() + 1) incomplete.push_back(row.compared->key);
    }
    std::set<std::string> in_steps;
    for (const Step& step : steps()) {
      for (const auto& [key, estimate] : step.rows) in_steps.insert(key);
    }
    for (const std::string& key : in_steps) {
      if (std::ranges::none_of(rows, [&](const Tested& row) { return row.compared->key == key; })) {
        untested.push_back(key);
      }
    }
    if (!incomplete.empty()) {
      say(fmt::format("  drift: {} trials lack an estimate in some step, so their sums may be too small: {}",
                      incomplete.size(), named(incomplete)));
    }
    if (!untested.empty()) {
      say(fmt::format("  drift: {} trials of the steps have no interval here and were not tested: {}",
                      untested.size(), named(untested)));
    }
  }

  Comparison& comparison_;
  const Ledger& ledger_;
  const Occasion& occasion_;
  std::optional<std::size_t> position_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> apply(Comparison& comparison, const Ledger& ledger, const Occasion& occasion) {
  return Application(comparison, ledger, occasion).findings();
}

}  // namespace assay
