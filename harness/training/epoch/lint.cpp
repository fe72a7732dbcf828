#include "training/epoch/lint.hpp"

#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace assay {
namespace {

/// A figure with the half-width that follows from how it was rounded.
struct Ranged {
  double value = 0;
  double half_width = 0;
};

Ranged product(const Ranged& a, const Ranged& b) {
  return {a.value * b.value, std::abs(a.value) * b.half_width + std::abs(b.value) * a.half_width};
}
Ranged quotient(const Ranged& a, const Ranged& b) {
  const double value = a.value / b.value;
  return {value, (a.half_width + std::abs(value) * b.half_width) / std::abs(b.value)};
}
Ranged ranged(const Quoted& quoted) { return {quoted.value, quoted.rounding}; }
Ranged typed(double value) { return {value, typed_rounding(value)}; }

class Linter {
 public:
  explicit Linter(const Job& job) : job_(job) {}

  std::vector<LintFinding> run() {
    negatives();
    windows();
    phases();
    for (std::size_t i = 0; i < job_.claims.size(); ++i) claim(job_.claims[i], fmt::format("claims[{}]", i));
    step_conventions();
    return std::move(out_);
  }

 private:
  void found(Rule rule, std::string field, std::string text, bool contradiction = true) {
    out_.push_back({rule, std::move(field), std::move(text), contradiction});
  }

  /// A figure as it was printed against the one that follows `from` others, which is shown as `result`.
  void compare(Rule rule, const std::string& field, const Quoted& stated, const Ranged& computed,
               const std::string& from, const std::string& result, const std::string& row = "") {
    if (can_agree(stated, computed.value, computed.half_width)) return;
    found(rule, field, in_row(row, fmt::format("{} contradicts {} = {}", stated.text, from, result)));
  }

  void not_negative(const std::string& field, double value) {
    if (value < 0) found(Rule::negative, field, fmt::format("{} is below 0", figure(value)));
  }
  void above_zero(const std::string& field, double value) {
    if (value <= 0) found(Rule::negative, field, fmt::format("{} is not above 0", figure(value)));
  }
  /// The first one alone is told.
  void none_negative(const std::string& field, const std::vector<double>& values) {
    const auto below = std::ranges::find_if(values, [](double value) { return value < 0; });
    if (below != values.end()) not_negative(field, *below);
  }

  void negatives() {
    for (std::size_t i = 0; i < job_.windows.size(); ++i) {
      above_zero(fmt::format("windows[{}].wall_seconds", i), job_.windows[i].wall_seconds);
      none_negative(fmt::format("windows[{}].step_seconds", i), job_.windows[i].step_seconds);
    }
    for (const StepPhase& phase : job_.phases) {
      const std::string here = "phases." + phase.name;
      not_negative(here + ".mean_seconds", phase.mean_seconds);
      none_negative(here + ".seconds", phase.seconds);
      if (phase.share) not_negative(here + ".share", phase.share->value);
    }
    not_negative("one_off_seconds", job_.one_off_seconds.value_or(0));
    above_zero("measured_epoch_seconds", job_.epoch_seconds.value_or(1));
    for (std::size_t i = 0; i < job_.claims.size(); ++i) {
      const Claim& one = job_.claims[i];
      for (const auto* quoted : {&one.step, &one.throughput, &one.epoch, &one.minimum, &one.total}) {
        if (*quoted) not_negative(fmt::format("claims[{}]", i), (*quoted)->value);
      }
    }
  }

  void windows() {
    for (std::size_t i = 0; i < job_.windows.size(); ++i) {
      const TimedWindow& window = job_.windows[i];
      const double sum = std::accumulate(window.step_seconds.begin(), window.step_seconds.end(), 0.0);
      if (window.step_seconds.empty() || sum <= 1.02 * window.wall_seconds) continue;
      found(
          Rule::timed_windows, fmt::format("windows[{}].step_seconds", i),
          fmt::format("steps of {} in a window of {}", seconds_text(sum), seconds_text(window.wall_seconds)));
    }
  }

  /// Mean seconds of a step over all windows; nothing without windows.
  std::optional<Ranged> step() const {
    double seconds = 0, steps = 0, rounding = 0;
    for (const TimedWindow& window : job_.windows) {
      seconds += window.wall_seconds;
      steps += static_cast<double>(window.steps);
      rounding += typed_rounding(window.wall_seconds);
    }
    if (steps <= 0) return std::nullopt;
    return Ranged{seconds / steps, rounding / steps};
  }

  bool adds(const StepPhase& phase) const { return phase.scope == Scope::training && !phase.overlaps; }

  void phases() {
    if (job_.phases.empty()) return;
    double sum = 0, others = 0;
    bool load = false, compute = false, loading_alone = true;
    for (const StepPhase& phase : job_.phases) {
      if (phase.scope == Scope::training) {
        load = load || phase.kind == PhaseKind::load;
        compute = compute || phase.kind == PhaseKind::compute;
      }
      if (!adds(phase)) continue;
      sum += phase.mean_seconds;
      loading_alone = loading_alone && phase.kind == PhaseKind::load;
      if (phase.kind == PhaseKind::other) others += phase.mean_seconds;
    }
    if (!load)
      found(Rule::missing_phase, "phases", "none is of kind load, so that no loader can be predicted", false);
    // A job that times loading alone does not claim to explain the rest.
    if (!compute && !loading_alone) found(Rule::missing_phase, "phases", "none is of kind compute", false);
    const auto step = this->step();
    const double whole = step ? step->value : sum;
    if (step && sum > 1.02 * whole) {
      found(Rule::parts_of_step, "phases",
            fmt::format("they take {} together, and a step {}", seconds_text(sum), seconds_text(whole)));
    }
    const double unexplained = others + std::max(0.0, whole - sum);
    if (whole > 0 && unexplained > largest_other * whole && !loading_alone) {
      found(Rule::large_other, "phases",
            fmt::format("{} of {} per step, {}, are called other or are in no phase",
                        seconds_text(unexplained), seconds_text(whole), percent_text(unexplained / whole)),
            false);
    }
    shares(whole, step);
  }

  void shares(double whole, const std::optional<Ranged>& step) {
    double sum = 0, rounding = 0;
    for (const StepPhase& phase : job_.phases) {
      if (!phase.share) continue;
      if (adds(phase)) {
        sum += phase.share->value;
        rounding += phase.share->rounding;
      }
      const Ranged of = step ? *step : Ranged{whole, 0};
      if (of.value <= 0) continue;
      const Ranged share = quotient(typed(phase.mean_seconds), of);
      compare(Rule::shares, fmt::format("phases.{}.share", phase.name), *phase.share, share,
              fmt::format("{} / {}", seconds_text(phase.mean_seconds), seconds_text(of.value)),
              percent_text(share.value));
    }
    if (sum - rounding > 1 + 1e-12) {
      found(Rule::shares, "phases", fmt::format("shares of a step sum to {}", percent_text(sum)));
    }
  }

  void claim(const Claim& one, const std::string& here) {
    const Index batch = one.batch.value_or(job_.dataset.batch);
    std::optional<Ranged> seconds;
    std::string seconds_word;
    if (one.step) {
      seconds = ranged(*one.step);
      seconds_word = one.step->text;
    } else if (!one.batch || *one.batch == job_.dataset.batch) {
      seconds = step();
      if (seconds) seconds_word = seconds_text(seconds->value);
    }
    if (one.throughput && batch > 0 && seconds && seconds->value > 0) {
      const Ranged rate = quotient({static_cast<double>(batch), 0}, *seconds);
      compare(Rule::throughput, here + ".throughput", *one.throughput, rate,
              fmt::format("{} / {}", count_text(batch), seconds_word), whole(rate.value) + "/s", one.where);
    }
    const Index steps = one.steps.value_or(steps_of_an_epoch(batch));
    if (one.epoch && steps > 0 && seconds && !job_.one_off_seconds) {
      const Ranged epoch = product({static_cast<double>(steps), 0}, *seconds);
      compare(Rule::epoch, here + ".epoch", *one.epoch, epoch,
              fmt::format("{} x {}", count_text(steps), seconds_word), minutes(epoch.value), one.where);
    }
    if (one.total) total(one, here);
    if (one.minimum) minimum(one, here);
    if (one.minimum && one.epoch) above_minimum(one, here);
    if (one.slower && one.throughput_change) slower(one, here);
    if (one.steps && batch > 0 && job_.dataset.train > 0) count(one, here, batch);
  }

  /// 0 where the batch is not known.
  Index steps_of_an_epoch(Index batch) const {
    return batch > 0 ? count_steps(job_.dataset.train, batch, job_.dataset.drop_last).steps() : 0;
  }
  static std::string in_row(const std::string& row, const std::string& text) {
    return row.empty() ? text : fmt::format("{} ({})", text, row);
  }
  static std::string whole(double value) {
    return value >= 100 ? count_text(static_cast<std::int64_t>(value + 0.5)) : figure(value);
  }
  static std::string minutes(double seconds) {
    return seconds < 120 ? seconds_text(seconds) : fmt::format("{:.2f} min", seconds / 60);
  }

  void total(const Claim& one, const std::string& here) {
    Ranged sum;
    std::string terms;
    const StepPhase* first = nullptr;
    for (const std::string& name : one.of) {
      const auto phase = std::ranges::find(job_.phases, name, &StepPhase::name);
      if (phase == job_.phases.end()) {
        found(Rule::missing_phase, here + ".of", fmt::format("there is no phase {}", name));
        return;
      }
      if (first == nullptr) first = &*phase;
      if (phase->scope != first->scope) {
        found(Rule::scopes, here + ".of",
              in_row(one.where, fmt::format("{} is of {} and {} of {}: they do not add up", first->name,
                                            to_string(first->scope), phase->name, to_string(phase->scope))));
        return;
      }
      const Ranged part = typed(phase->mean_seconds);
      sum.value += part.value;
      sum.half_width += part.half_width;
      terms += (terms.empty() ? "" : " + ") + name;
    }
    compare(Rule::sum_of_parts, here + ".total", *one.total, sum, terms, seconds_text(sum.value), one.where);
  }

  void minimum(const Claim& one, const std::string& here) {
    const std::string field = here + ".minimum";
    if (one.derivation.empty()) {
      double compute = 0;
      for (const StepPhase& phase : job_.phases) {
        if (adds(phase) && phase.kind == PhaseKind::compute) compute += phase.mean_seconds;
      }
      const Index steps = steps_of_an_epoch(job_.dataset.batch);
      const std::string instead =
          compute > 0 && steps > 0
              ? fmt::format("; {} steps of the compute phases take {}", count_text(steps),
                            minutes(compute * static_cast<double>(steps)))
              : "";
      found(Rule::underived_minimum, field,
            in_row(one.where, fmt::format("{} is called a minimum without saying what it follows from{}",
                                          one.minimum->text, instead)),
            false);
      return;
    }
    Ranged value{1, 0};
    std::string factors;
    for (const Quoted& factor : one.derivation) {
      value = product(value, ranged(factor));
      factors += (factors.empty() ? "" : " x ") + factor.text;
    }
    compare(Rule::underived_minimum, field, *one.minimum, value, factors, minutes(value.value), one.where);
  }

  void above_minimum(const Claim& one, const std::string& here) {
    if (one.epoch->value + one.epoch->rounding >= one.minimum->value - one.minimum->rounding) return;
    found(Rule::bound, here + ".epoch",
          in_row(one.where, fmt::format("{} is below {}, than which it is said to take no less",
                                        one.epoch->text, one.minimum->text)));
  }

  /// A tenth of the speed is 90 % less throughput, and not 900 %.
  void slower(const Claim& one, const std::string& here) {
    const Ranged left = quotient({1, 0}, ranged(*one.slower));
    if (can_agree(*one.throughput_change, left.value - 1, left.half_width)) return;
    found(Rule::slower, here + ".throughput_change",
          in_row(one.where,
                 fmt::format("{} contradicts {} times slower, which is {}", one.throughput_change->text,
                             one.slower->text, percent_text(left.value - 1))));
  }

  /// The way in which one row counts steps, where floor and ceil differ.
  struct Convention {
    std::string field, text;
    bool floor = true;
  };

  void count(const Claim& one, const std::string& here, Index batch) {
    const StepCount kept = count_steps(job_.dataset.train, batch, false);
    const std::string quotient = fmt::format("{} / {}", count_text(job_.dataset.train), count_text(batch));
    if (*one.steps != kept.full && *one.steps != kept.steps()) {
      found(Rule::step_count, here + ".steps",
            in_row(one.where, fmt::format("{} is neither floor nor ceil of {}, which are {} and {}",
                                          count_text(*one.steps), quotient, count_text(kept.full),
                                          count_text(kept.steps()))));
    } else if (kept.partial_samples > 0) {
      const bool floor = *one.steps == kept.full;
      conventions_.push_back(
          {here + ".steps",
           fmt::format("{} is {} of {}", count_text(*one.steps), floor ? "floor" : "ceil", quotient), floor});
    }
  }

  void step_conventions() {
    const auto floor = std::ranges::find(conventions_, true, &Convention::floor);
    const auto ceil = std::ranges::find(conventions_, false, &Convention::floor);
    if (floor == conventions_.end() || ceil == conventions_.end()) return;
    found(Rule::step_count, floor->field + " and " + ceil->field,
          fmt::format("the last batch is dropped in one row and kept in another: {}, {}", floor->text,
                      ceil->text));
  }

  const Job& job_;
  std::vector<LintFinding> out_;
  std::vector<Convention> conventions_;
};

}  // namespace

std::vector<LintFinding> lint(const Job& job) { return Linter(job).run(); }

}  // namespace assay
