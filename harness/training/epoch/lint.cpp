#include "training/epoch/forecast.hpp"

#include "core/text/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay {
namespace {

/// A figure without a text of its own, with the half-width that follows from how others were rounded.
Quoted figure_of(double value, double rounding = 0) { return {.value = value, .rounding = rounding}; }
Quoted typed(double value) { return figure_of(value, typed_rounding(value)); }
Quoted product(const Quoted& a, const Quoted& b) {
  return figure_of(a.value * b.value, std::abs(a.value) * b.rounding + std::abs(b.value) * a.rounding);
}
Quoted quotient(const Quoted& a, const Quoted& b) {
  const double value = a.value / b.value;
  return figure_of(value, (a.rounding + std::abs(value) * b.rounding) / std::abs(b.value));
}

bool adds(const StepPhase& phase) { return phase.scope == Scope::training && !phase.overlaps; }

std::string whole_text(double value) {
  return value >= 100 ? count_text(static_cast<std::int64_t>(value + 0.5)) : figure(value);
}
std::string minutes_text(double seconds) {
  return seconds < 120 ? seconds_text(seconds) : fmt::format("{:.2f} min", seconds / 60);
}

class Linter {
 public:
  explicit Linter(const Job& job) : job_(job) {}

  std::vector<LintFinding> run() {
    negatives();
    windows();
    phases();
    for (std::size_t i = 0; i < job_.claims.size(); ++i) {
      here_ = fmt::format("claims[{}]", i);
      row_ = job_.claims[i].where;
      claim(job_.claims[i]);
    }
    here_ = row_ = {};
    step_conventions();
    return std::move(out_);
  }

 private:
  /// Within a claim `field` is a member of it, and the text ends with its row.
  void found(Rule rule, const std::string& field, const std::string& text, bool contradiction = true) {
    out_.push_back(
        {rule, here_ + field, row_.empty() ? text : fmt::format("{} ({})", text, row_), contradiction});
  }

  /// A figure as it was printed against the one that follows `from` others, which is shown as `result`.
  void compare(Rule rule, const std::string& field, const Quoted& stated, const Quoted& computed,
               const std::string& from, const std::string& result) {
    if (can_agree(stated, computed.value, computed.rounding)) return;
    found(rule, field, fmt::format("{} contradicts {} = {}", stated.text, from, result));
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
  std::optional<Quoted> step() const {
    double seconds = 0, steps = 0, rounding = 0;
    for (const TimedWindow& window : job_.windows) {
      seconds += window.wall_seconds;
      steps += static_cast<double>(window.steps);
      rounding += typed_rounding(window.wall_seconds);
    }
    if (steps <= 0) return std::nullopt;
    Quoted out = figure_of(seconds / steps, rounding / steps);
    out.text = seconds_text(out.value);
    return out;
  }

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
    shares(step.value_or(figure_of(whole)));
  }

  void shares(const Quoted& step) {
    double sum = 0, rounding = 0;
    for (const StepPhase& phase : job_.phases) {
      if (!phase.share) continue;
      if (adds(phase)) {
        sum += phase.share->value;
        rounding += phase.share->rounding;
      }
      if (step.value <= 0) continue;
      const Quoted share = quotient(typed(phase.mean_seconds), step);
      compare(Rule::shares, fmt::format("phases.{}.share", phase.name), *phase.share, share,
              fmt::format("{} / {}", seconds_text(phase.mean_seconds), seconds_text(step.value)),
              percent_text(share.value));
    }
    if (sum - rounding > 1 + 1e-12) {
      found(Rule::shares, "phases", fmt::format("shares of a step sum to {}", percent_text(sum)));
    }
  }

  void claim(const Claim& one) {
    const Index batch = one.batch.value_or(job_.dataset.batch);
    std::optional<Quoted> seconds = one.step;
    if (!seconds && batch == job_.dataset.batch) seconds = step();
    if (one.throughput && batch > 0 && seconds && seconds->value > 0) {
      const Quoted rate = quotient(figure_of(static_cast<double>(batch)), *seconds);
      compare(Rule::throughput, ".throughput", *one.throughput, rate,
              fmt::format("{} / {}", count_text(batch), seconds->text), whole_text(rate.value) + "/s");
    }
    const Index steps = one.steps.value_or(steps_of_an_epoch(batch));
    if (one.epoch && steps > 0 && seconds && !job_.one_off_seconds) {
      const Quoted epoch = product(figure_of(static_cast<double>(steps)), *seconds);
      compare(Rule::epoch, ".epoch", *one.epoch, epoch,
              fmt::format("{} x {}", count_text(steps), seconds->text), minutes_text(epoch.value));
    }
    if (one.total) total(one);
    if (one.minimum) minimum(one);
    if (one.minimum && one.epoch &&
        one.epoch->value + one.epoch->rounding < one.minimum->value - one.minimum->rounding) {
      found(Rule::bound, ".epoch",
            fmt::format("{} is below {}, than which it is said to take no less", one.epoch->text,
                        one.minimum->text));
    }
    if (one.slower && one.throughput_change) {
      // A tenth of the speed is 90 % less throughput, and not 900 %.
      const Quoted left = quotient(figure_of(1), *one.slower);
      if (!can_agree(*one.throughput_change, left.value - 1, left.rounding)) {
        found(Rule::slower, ".throughput_change",
              fmt::format("{} contradicts {} times slower, which is {}", one.throughput_change->text,
                          one.slower->text, percent_text(left.value - 1)));
      }
    }
    if (one.steps && batch > 0 && job_.dataset.train > 0) count(*one.steps, batch);
  }

  /// 0 where the batch is not known.
  Index steps_of_an_epoch(Index batch) const {
    return batch > 0 ? count_steps(job_.dataset.train, batch, job_.dataset.drop_last).steps() : 0;
  }

  void total(const Claim& one) {
    Quoted sum;
    const StepPhase* first = nullptr;
    for (const std::string& name : one.of) {
      const auto phase = std::ranges::find(job_.phases, name, &StepPhase::name);
      if (phase == job_.phases.end())
        return found(Rule::missing_phase, ".of", fmt::format("there is no phase {}", name));
      if (first == nullptr) first = &*phase;
      if (phase->scope != first->scope) {
        return found(Rule::scopes, ".of",
                     fmt::format("{} is of {} and {} of {}: they do not add up", first->name,
                                 to_string(first->scope), phase->name, to_string(phase->scope)));
      }
      sum.value += phase->mean_seconds;
      sum.rounding += typed_rounding(phase->mean_seconds);
    }
    compare(Rule::sum_of_parts, ".total", *one.total, sum, fmt::format("{}", fmt::join(one.of, " + ")),
            seconds_text(sum.value));
  }

  void minimum(const Claim& one) {
    if (!one.derivation.empty()) {
      Quoted value = figure_of(1);
      std::string factors;
      for (const Quoted& factor : one.derivation) {
        value = product(value, factor);
        factors += (factors.empty() ? "" : " x ") + factor.text;
      }
      return compare(Rule::underived_minimum, ".minimum", *one.minimum, value, factors,
                     minutes_text(value.value));
    }
    double compute = 0;
    for (const StepPhase& phase : job_.phases) {
      if (adds(phase) && phase.kind == PhaseKind::compute) compute += phase.mean_seconds;
    }
    const Index steps = steps_of_an_epoch(job_.dataset.batch);
    const std::string instead =
        compute > 0 && steps > 0 ? fmt::format("; {} steps of the compute phases take {}", count_text(steps),
                                               minutes_text(compute * static_cast<double>(steps)))
                                 : "";
    found(Rule::underived_minimum, ".minimum",
          fmt::format("{} is called a minimum without saying what it follows from{}", one.minimum->text,
                      instead),
          false);
  }

  /// The way in which one row counts steps, where floor and ceil differ.
  struct Convention {
    std::string field, text;
  };

  void count(Index steps, Index batch) {
    const StepCount kept = count_steps(job_.dataset.train, batch, false);
    const std::string quotient = fmt::format("{} / {}", count_text(job_.dataset.train), count_text(batch));
    const bool floor = steps == kept.full;
    if (!floor && steps != kept.steps()) {
      found(Rule::step_count, ".steps",
            fmt::format("{} is neither floor nor ceil of {}, which are {} and {}", count_text(steps),
                        quotient, count_text(kept.full), count_text(kept.steps())));
    } else if (kept.partial_samples > 0) {
      std::optional<Convention>& first = floor ? floor_ : ceil_;
      if (!first) {
        first = Convention{here_ + ".steps", fmt::format("{} is {} of {}", count_text(steps),
                                                         floor ? "floor" : "ceil", quotient)};
      }
    }
  }

  void step_conventions() {
    if (!floor_ || !ceil_) return;
    found(Rule::step_count, floor_->field + " and " + ceil_->field,
          fmt::format("the last batch is dropped in one row and kept in another: {}, {}", floor_->text,
                      ceil_->text));
  }

  const Job& job_;
  std::vector<LintFinding> out_;
  std::string here_, row_;                  ///< of the claim that is checked
  std::optional<Convention> floor_, ceil_;  ///< of the first row that counts so
};

}  // namespace

std::vector<LintFinding> lint(const Job& job) { return Linter(job).run(); }

}  // namespace assay
