#include "training/epoch/epoch_prediction.hpp"

#include "core/json/json.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/clock.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <span>
#include <utility>

namespace assay {
namespace {

/// Events one per line: a long epoch has hundreds of thousands, and need not be held twice.
class Trace {
 public:
  void name(int thread, const std::string& what) {
    add(fmt::format(R"({{"ph": "M", "name": "thread_name", "pid": 1, "tid": {}, "args": {{"name": {}}}}})",
                    thread, Json(what).dump()));
  }
  void slice(int thread, std::string_view what, double begin, double seconds) {
    if (seconds <= 0) return;
    add(fmt::format(R"({{"ph": "X", "name": "{}", "pid": 1, "tid": {}, "ts": {:.3f}, "dur": {:.3f}}})", what,
                    thread, 1e6 * begin, 1e6 * seconds));
  }
  void count(std::string_view what, double at, Index value) {
    add(fmt::format(R"({{"ph": "C", "name": "{}", "pid": 1, "ts": {:.3f}, "args": {{"{}": {}}}}})", what,
                    1e6 * at, what, value));
  }
  std::string text() const {
    return "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n" + events_ + "\n]}\n";
  }

 private:
  void add(const std::string& event) { events_ += (events_.empty() ? "" : ",\n") + event; }
  std::string events_;
};

/// Events one after the other.
using Phases = std::initializer_list<std::pair<const char*, double>>;

void add_phases(Trace& trace, double at, Phases phases) {
  for (const auto& [phase, seconds] : phases) {
    trace.slice(0, phase, at, seconds);
    at += seconds;
  }
}

void add_beside(Trace& trace, const EpochTimes& epoch) {
  for (const CheckpointTimes& one : epoch.checkpoints) {
    trace.slice(0, "checkpoint", one.begin, one.end - one.begin);
  }
  if (epoch.validation.empty()) return;
  const double begin = epoch.validation.front().begin;
  trace.slice(0, "validation", begin, epoch.validation.back().end - begin);
  for (const ValidationTimes& one : epoch.validation) {
    add_phases(trace, one.begin, {{"load", one.load}, {"forward", one.forward}, {"loss", one.loss}});
  }
}

}  // namespace

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
  out.seconds = seconds_since(start);
  return out;
}

RenewedForecast::RenewedForecast(Index steps, double beside, std::optional<Interval> predicted)
    : steps_(steps), beside_(beside), predicted_(std::move(predicted)) {}

void RenewedForecast::note(Index done, double seconds) {
  constexpr std::size_t most_groups = 40;  // as many as a calibration has: see grouped()
  const auto count = static_cast<double>(done - done_);
  groups_.push_back({done - done_, (seconds - seconds_) / count});
  done_ = done;
  seconds_ = seconds;
  if (groups_.size() < most_groups) return;
  std::vector<Group> pairs;
  for (std::size_t i = 0; i + 1 < groups_.size(); i += 2) {
    const Spread both = spread_of(std::span(groups_).subspan(i, 2));
    pairs.push_back({both.steps, both.mean});
  }
  groups_ = std::move(pairs);
}

Interval RenewedForecast::seconds() const {
  const auto rest = static_cast<double>(steps_ - done_), all = static_cast<double>(steps_);
  if (groups_.size() < enough_runs) {
    const double of_steps = predicted_ ? std::max(0.0, predicted_->middle - beside_)
                                       : seconds_ * all / static_cast<double>(done_);
    const double whole = seconds_ + of_steps * rest / all + beside_;
    return {whole, whole, whole, 0};
  }
  Spread spread = spread_of(groups_);
  const double alike = persistence_of(groups_);
  spread.variance *= (1 + alike) / (1 - alike);
  Interval left = sum_of_steps(spread, rest);
  left.low = std::max(0.0, left.low);
  return shifted(left, seconds_ + beside_);
}

EpochRun run_epoch(Training& training, const EpochPrediction& prediction, const Hooks& hooks) {
  const Index steps = prediction.job.plan.steps();
  double beside = 0;
  for (const Segment& segment : prediction.forecast.segments) {
    if (segment.kind == SegmentKind::validation) beside += segment.seconds.middle;
  }
  RenewedForecast renewed(steps, beside, predicted_epoch(prediction.forecast));
  double shown = 0;
  const auto show = [&](Index done, double seconds) {
    // Text costs microseconds, and steps of a small network take tens of them.
    if (seconds - shown < 0.5) return;
    shown = seconds;
    renewed.note(done, seconds);
    const Interval in_all = renewed.seconds();
    hooks.say(fmt::format("step {} of {}: {} in all", done, steps,
                          in_all.coverage > 0 ? fine_seconds_text(in_all) : seconds_text(in_all.middle)),
              std::clamp(seconds / in_all.middle, 0.0, 1.0));
  };
  return run_epoch(training, prediction.job.plan, show, hooks);
}

Forecast scored(const EpochPrediction& prediction, const EpochRun& epoch) {
  const Job truth = measured_job(prediction.job, epoch);
  Forecast out = forecast(prediction.measured, &truth);
  out.experience = prediction.forecast.experience;
  if (const auto predicted = predicted_epoch(prediction.forecast))
    out.known = KnownEpoch{epoch.times.seconds, *predicted, epoch.weather};
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
                  .taken_in_calibration = forecast.calibration.taken_share,
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

std::string timeline_json(const std::string& name, const EpochTimes& epoch) {
  const std::vector<StepTimes>& steps = epoch.steps;
  Trace trace;
  trace.name(0, name);
  int workers = 0;
  for (const StepTimes& step : steps) workers = std::max(workers, step.worker);
  for (int worker = 1; worker <= workers; ++worker) trace.name(worker, fmt::format("worker {}", worker));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepTimes& step = steps[i];
    trace.slice(0, fmt::format("step {}", i), step.begin, step.end - step.begin);
    add_phases(trace, step.begin,
               {{"wait", step.wait},
                {"forward", step.forward},
                {"loss", step.loss},
                {"backward", step.backward},
                {"clip", step.clip},
                {"optimizer", step.optimize}});
    if (step.worker > 0)
      trace.slice(step.worker, fmt::format("batch {}", step.batch), step.load_begin, step.load);
    trace.count("ready", step.begin + step.wait, step.ready);
  }
  add_beside(trace, epoch);
  return trace.text();
}

}  // namespace assay
