// Predictions against measurements, with signed errors.
#include "assay/error.hpp"
#include "core/text/figures.hpp"
#include "training/epoch/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

Scored scored(std::string name, const Interval& predicted, double measured) {
  return {std::move(name), predicted.middle, measured, predicted.middle / measured - 1,
          holds(predicted, measured)};
}

std::vector<Scored> by_models(const Calibration& c, const Target& target, double measured) {
  std::vector<Scored> out;
  for (const ModelPrediction& one : predict_with_all(c, target)) {
    if (one.impossible.empty()) out.push_back(scored(in_words(one.model), one.seconds, measured));
  }
  return out;
}

/// The calibration against the later measurement as a whole: phases, steps without loading, and drift.
Score compared(const Calibration& c, const Calibration& truth) {
  Score out;
  const auto add = [&](const std::string& name, double predicted, double measured) {
    if (measured > 0) out.phases.push_back(scored(name, {.middle = predicted}, measured));
  };
  double most = 0;
  std::string moved_most;
  for (const StepPhase& part : c.parts) {
    const auto same = std::ranges::find(truth.parts, part.name, &StepPhase::name);
    if (same == truth.parts.end()) continue;
    const double before = part.mean_seconds, after = same->mean_seconds;
    add(part.name + ", per step", before, after);
    if (part.kind != PhaseKind::load) {
      out.predicted_step += before;
      out.measured_step += after;
    }
    if (std::abs(after - before) <= most) continue;
    most = std::abs(after - before);
    moved_most =
        fmt::format(", most of all {}, from {} to {}", part.name, seconds_text(before), seconds_text(after));
  }
  if (c.validation.steps > 0) add("validation, per batch", c.validation.mean, truth.validation.mean);
  if (c.checkpoint.steps > 0) add("checkpoint, per write", c.checkpoint.mean, truth.checkpoint.mean);
  if (const auto change = change_between(c.steady, truth.steady)) {
    out.drift = fmt::format("steps moved from {} to {}{}", seconds_text(change->before),
                            seconds_text(change->after), moved_most);
  }
  return out;
}

}  // namespace

std::string error_text(double error) {
  if (std::abs(error) < 0.0005) return "exact to 0.05 %";
  return fmt::format("{:.1f} % too {}", 100 * std::abs(error), error > 0 ? "long" : "short");
}

std::vector<Score> scores(const Job& job, const Calibration& c, const Job* against) {
  std::vector<Score> out;
  const auto target = epoch_target(job.dataset);
  const auto add_epoch = [&](const Job& measured) {
    if (!measured.epoch_seconds || !target) return;
    const double seconds = *measured.epoch_seconds;
    out.push_back({.measured = "the epoch", .seconds = seconds, .models = by_models(c, *target, seconds)});
  };
  add_epoch(job);
  if (against == nullptr) return out;
  const std::size_t before = out.size();
  add_epoch(*against);
  if (!against->windows.empty()) {
    const Score whole = compared(c, calibrate(*against));
    for (const TimedWindow& window : against->windows) {
      const Target steps{.steps = static_cast<double>(window.steps), .from_start = window.first_step == 0};
      Score& one = out.emplace_back(whole);
      one.measured = fmt::format("{} from step {} on of {}", quantity_text(window.steps, "step"),
                                 window.first_step, against->source);
      one.seconds = window.wall_seconds;
      one.models = by_models(c, steps, window.wall_seconds);
      // Cold starts are predicted by calibrations that timed cold pages.
      const bool predicted = c.cold && window.first_step == 0;
      if (!predicted && c.cache != PageCache::unknown && window.cache != PageCache::unknown &&
          c.cache != window.cache) {
        one.drift += fmt::format("{}the page cache was {}, and predicted from was a {} one",
                                 one.drift.empty() ? "" : "; ", to_string(window.cache), to_string(c.cache));
      }
    }
  }
  if (out.size() == before) {
    throw Error(against->source, "holds nothing to compare with",
                "it needs a timed window, or measured_epoch_seconds where data set and batch are known");
  }
  return out;
}

}  // namespace assay
