#include "training/epoch/epoch_prediction.hpp"

#include "core/machine/build_info.hpp"
#include "core/machine/clock.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <chrono>

namespace assay {

std::optional<EpochPrediction> predict_epoch(Training& training, const TrainingJob& job,
                                             const std::vector<LoggedEpoch>& earlier,
                                             const PredictionSettings& settings, const Hooks& hooks) {
  const auto start = std::chrono::steady_clock::now();
  EpochPrediction out{.job = job, .measured = calibration_of(training, job, settings.calibration, hooks)};
  if (hooks.stopped()) return std::nullopt;
  out.forecast = forecast(out.measured);
  if (const ModelPrediction* best = most_elaborate(out.forecast.models)) {
    out.forecast.experience =
        experience(best->seconds, earlier_errors(earlier, this_machine().key, name_of(best->model)));
  }
  out.made = utc_now();
  if (settings.elsewhere) {
    out.elsewhere = elsewhere(training, job.plan, out.forecast.calibration, usual_settings(),
                              seconds_of(out.forecast.segments), *settings.elsewhere, hooks);
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

EpochRun run_epoch(Training& training, const EpochPrediction& prediction, const Hooks& hooks) {
  const Index steps = prediction.job.plan.steps();
  const ModelPrediction* best = most_elaborate(prediction.forecast.models);
  const std::string predicted = best == nullptr ? "" : ", predicted " + seconds_text(best->seconds.middle);
  double shown = 0;
  const auto show = [&](Index done, double seconds) {
    // Text costs microseconds, and steps of a small network take tens of them.
    if (seconds - shown < 0.5) return;
    shown = seconds;
    const double in_all = seconds * static_cast<double>(steps) / static_cast<double>(done);
    hooks.say(fmt::format("step {} of {}, about {} in all{}", done, steps, seconds_text(in_all), predicted));
  };
  return run_epoch(training, prediction.job.plan, show, hooks);
}

Forecast scored(const EpochPrediction& prediction, const EpochRun& epoch) {
  const Job truth = measured_job(prediction.job, epoch);
  Forecast out = forecast(prediction.measured, &truth);
  out.experience = prediction.forecast.experience;
  const Interval& expected = out.experience.seconds;
  if (expected.coverage > 0) {
    out.experience.held = expected.low <= epoch.times.seconds && epoch.times.seconds <= expected.high;
  }
  return out;
}

LoggedEpoch logged_epoch(const EpochPrediction& prediction, const EpochRun& epoch, const Forecast& scored,
                         const std::string& frozen) {
  const Forecast& forecast = prediction.forecast;
  const Score& of_steps = scored.scores.back();
  LoggedEpoch out{.job = prediction.job,
                  .date = prediction.made,
                  .commit = build_info().commit,
                  .machine = this_machine().key,
                  .frozen = frozen,
                  .seconds = epoch.times.seconds,
                  .prediction_seconds = prediction.seconds,
                  .predicted_step = of_steps.predicted_step,
                  .measured_step = of_steps.measured_step,
                  .other_busy_share = epoch.weather.other_busy_share,
                  .steal_share = epoch.weather.steal_share,
                  .experience = forecast.experience,
                  .elsewhere = prediction.elsewhere};
  for (const ModelPrediction& one : forecast.models) {
    if (one.impossible.empty()) out.models.push_back({std::string(name_of(one.model)), one.seconds});
  }
  for (const Segment& one : forecast.segments) {
    if (one.kind == SegmentKind::cold_pages) continue;  // not timed apart from the steps
    out.segments.push_back({std::string(to_string(one.kind)), one.seconds,
                            one.kind == SegmentKind::validation ? epoch.times.validation_seconds()
                                                                : epoch.times.checkpoint_seconds()});
  }
  return out;
}

}  // namespace assay
