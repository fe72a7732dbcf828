// Predictions against measurements, with signed errors.
#include "assay/error.hpp"
#include "core/text/figures.hpp"
#include "training/epoch/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

std::vector<ModelError> errors_of(const std::vector<ModelPrediction>& predictions, double measured) {
  std::vector<ModelError> out;
  for (const ModelPrediction& one : predictions) {
    if (!one.impossible.empty()) continue;
    out.push_back(
        {one.model, one.seconds.middle, one.seconds.middle / measured - 1, holds(one.seconds, measured)});
  }
  return out;
}

/// The part of that name; null where there is none.
const StepPhase* part_named(const Calibration& c, std::string_view name) {
  const auto found = std::ranges::find(c.parts, name, &StepPhase::name);
  return found == c.parts.end() ? nullptr : &*found;
}

/// Phases of the whole of `against`, next to those of the calibration; validation per batch and checkpoints
/// per write.
std::vector<PhaseError> phase_errors(const Calibration& c, const Calibration& truth) {
  std::vector<PhaseError> out;
  for (const StepPhase& part : c.parts) {
    const StepPhase* same = part_named(truth, part.name);
    if (same == nullptr || same->mean_seconds <= 0) continue;
    out.push_back(
        {part.name, part.mean_seconds, same->mean_seconds, part.mean_seconds / same->mean_seconds - 1});
  }
  const auto add = [&](Scope scope, const char* per, const Spread& predicted, const Spread& measured) {
    if (predicted.steps == 0 || measured.mean <= 0) return;
    out.push_back({std::string(to_string(scope)), predicted.mean, measured.mean,
                   predicted.mean / measured.mean - 1, per});
  };
  add(Scope::validation, "batch", c.validation, truth.validation);
  add(Scope::checkpoint, "write", c.checkpoint, truth.checkpoint);
  return out;
}

/// Adds up the phases of `c` that `other` has as well, without those of loading.
double step_without_loading(const Calibration& c, const Calibration& other) {
  double out = 0;
  for (const StepPhase& part : c.parts) {
    if (part.kind != PhaseKind::load && part_named(other, part.name) != nullptr) out += part.mean_seconds;
  }
  return out;
}

std::string drift_between(const Calibration& c, const Calibration& truth) {
  const auto change = change_between(c.steady, truth.steady);
  if (!change) return "";
  const std::string out =
      fmt::format("steps moved from {} to {}", seconds_text(change->before), seconds_text(change->after));
  double most = 0;
  std::string where;
  for (const StepPhase& part : c.parts) {
    const StepPhase* same = part_named(truth, part.name);
    const double moved = same == nullptr ? 0 : std::abs(same->mean_seconds - part.mean_seconds);
    if (moved <= most) continue;
    most = moved;
    where = fmt::format(", most of all {}, from {} to {}", part.name, seconds_text(part.mean_seconds),
                        seconds_text(same->mean_seconds));
  }
  return out + where;
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
    out.push_back({.measured = "the epoch",
                   .seconds = seconds,
                   .models = errors_of(predict_with_all(c, *target), seconds)});
  };
  add_epoch(job);
  if (against == nullptr) return out;
  const std::size_t before = out.size();
  add_epoch(*against);
  if (!against->windows.empty()) {
    const Calibration truth = calibrate(*against);
    const std::string drift = drift_between(c, truth);
    const std::vector<PhaseError> phases = phase_errors(c, truth);
    for (const TimedWindow& window : against->windows) {
      const Target steps{.steps = static_cast<double>(window.steps), .from_start = window.first_step == 0};
      out.push_back(
          {.measured = fmt::format("{} step{} from step {} on of {}", count_text(window.steps),
                                   window.steps == 1 ? "" : "s", window.first_step, against->source),
           .seconds = window.wall_seconds,
           .models = errors_of(predict_with_all(c, steps), window.wall_seconds),
           .phases = phases,
           .predicted_step = step_without_loading(c, truth),
           .measured_step = step_without_loading(truth, c),
           .drift = drift});
      // A cold start is predicted where it is known what pages in memory save.
      const bool predicted = c.cold && window.first_step == 0;
      if (!predicted && c.cache != PageCache::unknown && window.cache != PageCache::unknown &&
          c.cache != window.cache) {
        out.back().drift +=
            fmt::format("{}the page cache was {}, and predicted from was a {} one", drift.empty() ? "" : "; ",
                        to_string(window.cache), to_string(c.cache));
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
