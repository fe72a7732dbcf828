#include "training/epoch/epoch_prediction.hpp"

#include "core/json/json.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/clock.hpp"
#include "core/machine/fields.hpp"
#include "core/markup/document.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <map>
#include <span>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

namespace assay {
namespace {

LoaderSetting setting_of(const TrainingPlan& plan) {
  return {plan.workers, plan.workers == 0 ? 1 : plan.prefetch};
}

/// Errors of predictions of one kind, each against its measurement.
struct Errors {
  std::vector<double> errors;
  std::size_t with_interval = 0, inside = 0;

  void add(const Interval& predicted, double measured) {
    errors.push_back(std::abs(predicted.middle / measured - 1));
    const auto held = holds(predicted, measured);
    if (!held || predicted.coverage <= 0) return;
    ++with_interval;
    if (*held) ++inside;
  }
};

using Family = std::vector<const LoggedEpoch*>;

std::map<std::string, Family> families(const std::vector<LoggedEpoch>& log) {
  std::map<std::string, Family> out;
  for (const LoggedEpoch& epoch : log) {
    TrainingJob job = epoch.job;  // the part of it that all its settings share
    job.name.clear();
    job.plan.workers = 0;
    job.plan.prefetch = 1;
    out[to_json(job)].push_back(&epoch);
  }
  return out;
}

/// Returns the seconds of an epoch, as they are or over the seconds of a step in it; 0: not known.
using Taken = double (*)(const LoggedEpoch&);
double in_seconds(const LoggedEpoch& epoch) { return epoch.seconds; }

/// An artificial delay is wall time; it does not scale with the machine's speed.
bool goes_with_the_machine(const LoggedEpoch& epoch) { return epoch.job.plan.batch_delay == 0; }

double at_pace(const LoggedEpoch& epoch) {
  return epoch.measured_step > 0 && goes_with_the_machine(epoch) ? epoch.seconds / epoch.measured_step : 0;
}

/// Median over the epochs of a setting; 0 without any.
double measured(const Family& family, const LoaderSetting& setting, Taken taken = in_seconds) {
  std::vector<double> all;
  for (const LoggedEpoch* epoch : family) {
    if (setting_of(epoch->job.plan) == setting && taken(*epoch) > 0) all.push_back(taken(*epoch));
  }
  return all.empty() ? 0 : median(all);
}

std::vector<double> regrets_of(const std::vector<LoggedEpoch>& log, Taken taken) {
  struct Run {
    double predicted = 0, time = 0;
  };
  std::vector<double> out;
  for (const auto& [name, family] : families(log)) {
    for (const LoggedEpoch* from : family) {
      std::vector<Run> runs;
      for (const Elsewhere& one : from->elsewhere) {
        const double time = measured(family, one.setting, taken);
        if (time > 0) runs.push_back({one.seconds, time});
      }
      if (runs.size() < 2) continue;
      const Run recommended = *std::ranges::min_element(runs, {}, &Run::predicted),
                best = *std::ranges::min_element(runs, {}, &Run::time);
      out.push_back(recommended.time / best.time - 1);
    }
  }
  return out;
}

/// Describes times that were predicted. Every one of them is compared and averaged. Lines that some models
/// draw through steps, and the lower ends of wide intervals, may lie below 0.
void describe_seconds(Fields& f, Interval& seconds, std::string_view middle, double least = 0) {
  describe(f, seconds, middle);
  if (!f.reads()) return;
  for (const auto& [name, value, lowest] : {std::tuple(std::string_view("low"), seconds.low, -most_seconds),
                                            std::tuple(middle, seconds.middle, least),
                                            std::tuple(std::string_view("high"), seconds.high, least)}) {
    if (!(value >= lowest && value <= most_seconds))
      f.refuse(name, fmt::format("is {}, must be a time", value));
  }
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string coverage_text(const ErrorSummary& one) {
  if (one.with_interval == 0) return "no interval";
  const Interval share = proportion(one.inside, one.with_interval);
  return fmt::format("{} of {} [{:.0f} %, {:.0f} %]", one.inside, one.with_interval, 100 * share.low,
                     100 * share.high);
}

std::string regret_figures(const std::vector<double>& all) {
  if (all.empty()) return "";
  return fmt::format("{} in the median, {} at most", percent(median(all)), percent(std::ranges::max(all)));
}

std::string regret_text(const std::vector<LoggedEpoch>& log) {
  const std::vector<double> all = regrets(log);
  if (all.empty()) return "No job was run with several settings, so there is no regret to tell.";
  const std::string at_pace = regret_figures(regrets_at_pace(log));
  return fmt::format(
      "Regret, what the setting that was predicted to be fastest takes longer than the one that was: {}, "
      "over {}{}.",
      regret_figures(all), quantity_text(std::ssize(all), "prediction"),
      at_pace.empty() ? "" : "; at the pace of the epoch " + at_pace);
}

doc::Table errors_table(const std::vector<ErrorSummary>& errors) {
  doc::Table out{.tag = "errors",
                 .columns = doc::columns("what = what was predicted; !epochs; !median = median error; !p95; "
                                         "!largest; !inside = inside the 90 % interval")};
  for (const ErrorSummary& one : errors) {
    out.rows.push_back({one.predicted, doc::count(static_cast<double>(one.epochs)), percent(one.median),
                        percent(one.p95), percent(one.largest), coverage_text(one)});
  }
  return out;
}

doc::Table epochs_table(const std::vector<LoggedEpoch>& log) {
  doc::Table out{.tag = "epochs", .columns = doc::columns("!job; !measured")};
  for (const LoggedModel& model : log.front().models)
    out.columns.push_back({.tag = model.model, .folds = false});
  for (const LoggedEpoch& epoch : log) {
    auto& row = out.rows.emplace_back();
    row = {epoch.job.name + ": " + in_words(epoch.job.plan), doc::seconds(epoch.seconds)};
    for (const LoggedModel& column : log.front().models) {
      const auto own = std::ranges::find(epoch.models, column.model, &LoggedModel::model);
      row.push_back(own == epoch.models.end() ? std::string("-")
                                              : error_text(own->seconds.middle / epoch.seconds - 1));
    }
  }
  return out;
}

double median_of(const std::vector<LoggedEpoch>& log, double LoggedEpoch::*of) {
  std::vector<double> values;
  for (const LoggedEpoch& epoch : log) values.push_back(epoch.*of);
  return median(values);
}

constexpr const char* at_pace_text =
    "At the pace of the epoch: the machine is shared, and its pace in the epoch is not known before. These "
    "rows multiply all predicted times by the time of steps without loading in the epoch over their time in "
    "the calibration. The rest is the model's own error: of loading, start-up and cold pages. Epochs whose "
    "source waits by the clock are not among them.";
constexpr const char* experience_about =
    "With the epochs before it: the interval of a calibration holds the luck of its runs, and nothing that "
    "the machine does afterwards. Here its ends are moved by as much as would have held nine of ten of the "
    "earlier epochs in the log, of any job on that machine; the first nine have no such interval.";

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

void add_phases(Trace& trace, double at, std::initializer_list<std::pair<const char*, double>> phases) {
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

void describe(Fields& f, LoggedModel& one) {
  f("model", one.model);
  describe_seconds(f, one.seconds, "seconds", -most_seconds);
}

void describe(Fields& f, LoggedSegment& one) {
  f("segment", one.name);
  describe_seconds(f, one.predicted, "predicted_seconds");
  f("seconds", one.seconds, {.above = 0, .most = most_seconds, .about = "measured"});
}

void describe(Fields& f, Elsewhere& one) {
  f("workers", one.setting.workers, {.low = 0, .high = 4096});
  f("prefetch", one.setting.prefetch, {.low = 1, .high = 4096});
  f("seconds", one.seconds, {.least = 0, .most = most_seconds});
}

void describe(Fields& f, Experience& experience) {
  f("epochs", experience.epochs, {.low = 0, .high = 1'000'000'000});
  describe_seconds(f, experience.seconds, "seconds");
}

void describe(Fields& f, LoggedEpoch& epoch) {
  constexpr Fields::Rule not_in_older_lines{.optional = true}, share{.least = 0, .most = 1},
      seconds{.optional = true, .least = 0, .most = most_seconds};
  f.schema("assay.epoch_log/1");
  ASSAY_FIELDS(f, epoch, job, date, commit, machine);
  f("frozen", epoch.frozen, {.about = "hash of the prediction as it was written down"});
  f("seconds", epoch.seconds, {.above = 0, .most = most_seconds, .about = "measured"});
  f("prediction_seconds", epoch.prediction_seconds,
    {.least = 0, .most = most_seconds, .about = "that predicting took"});
  f("predicted_step_seconds", epoch.predicted_step, seconds);
  f("measured_step_seconds", epoch.measured_step, seconds);
  f("other_busy_share", epoch.other_busy_share, share);
  f("steal_share", epoch.steal_share, share);
  f("taken_share_in_calibration", epoch.taken_in_calibration,
    {.optional = true, .least = 0, .most = 2, .about = "the share of both then"});
  f("experience", epoch.experience, not_in_older_lines);
  f("models", epoch.models);
  f("segments", epoch.segments, not_in_older_lines);
  f("elsewhere", epoch.elsewhere, {.about = "predictions for other settings"});
}

std::string to_line(const LoggedEpoch& epoch) { return to_value(epoch).dump(); }

std::vector<LoggedEpoch> epoch_log_from(const std::string& text, const std::string& where) {
  std::vector<LoggedEpoch> out;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    out.push_back(value_from<LoggedEpoch>(line, fmt::format("{}, line {}", where, number),
                                          "`assay epoch --log` writes such lines"));
  }
  return out;
}

std::vector<double> earlier_errors(const std::vector<LoggedEpoch>& log, const std::string& machine,
                                   std::string_view model) {
  std::vector<double> out;
  for (const LoggedEpoch& epoch : log) {
    const auto one = std::ranges::find(epoch.models, model, &LoggedModel::model);
    if (epoch.machine == machine && one != epoch.models.end())
      out.push_back(beyond(one->seconds, epoch.seconds));
  }
  return out;
}

std::vector<ErrorSummary> errors_of(const std::vector<LoggedEpoch>& log) {
  std::map<std::pair<int, std::string>, Errors> rows;  // by their order and name
  const auto add_at_pace = [&](int order, const std::string& name, double predicted, const LoggedEpoch& from,
                               const LoggedEpoch& run) {
    if (from.predicted_step <= 0 || !goes_with_the_machine(run)) return;
    const double pace = run.measured_step / from.predicted_step;
    if (pace > 0) rows[{order, name}].add({.middle = pace * predicted}, run.seconds);
  };
  const std::string m4(name_of(Model::queue));
  const std::string own = "the same setting, ", at_its_pace = " at the pace of the epoch";
  for (const LoggedEpoch& epoch : log) {
    for (const LoggedModel& one : epoch.models) {
      rows[{0, own + one.model}].add(one.seconds, epoch.seconds);
      if (one.model == m4) add_at_pace(2, own + m4 + at_its_pace, one.seconds.middle, epoch, epoch);
    }
    const Interval& experienced = epoch.experience.seconds;
    if (experienced.coverage > 0) rows[{1, std::string(with_experience)}].add(experienced, epoch.seconds);
    for (const LoggedSegment& one : epoch.segments)
      rows[{3, one.name + " alone"}].add(one.predicted, one.seconds);
  }
  for (const auto& [name, family] : families(log)) {
    for (const LoggedEpoch* from : family) {
      for (const Elsewhere& one : from->elsewhere) {
        if (one.setting == setting_of(from->job.plan)) continue;
        const double seconds = measured(family, one.setting);
        if (seconds > 0) rows[{4, std::string(unrun_setting)}].add({.middle = one.seconds}, seconds);
        for (const LoggedEpoch* run : family) {
          if (setting_of(run->job.plan) == one.setting)
            add_at_pace(5, std::string(unrun_setting) + at_its_pace, one.seconds, *from, *run);
        }
      }
    }
  }
  std::vector<ErrorSummary> out;
  for (const auto& [key, row] : rows) {
    out.push_back({key.second, row.errors.size(), median(row.errors), quantile(row.errors, 0.95),
                   std::ranges::max(row.errors), row.with_interval, row.inside});
  }
  return out;
}

std::vector<double> regrets(const std::vector<LoggedEpoch>& log) { return regrets_of(log, in_seconds); }
std::vector<double> regrets_at_pace(const std::vector<LoggedEpoch>& log) { return regrets_of(log, at_pace); }

std::string epoch_log_markdown(const std::vector<LoggedEpoch>& log, const std::string& hash) {
  doc::Document out{.title = "Predicted epochs against epochs that were run"};
  if (log.empty()) {
    out.sections = {{.blocks = {doc::Text("No epoch was run.")}}};
    return doc::to_markdown(out);
  }
  const LoggedEpoch& last = log.back();
  const std::vector<ErrorSummary> errors = errors_of(log);
  const auto about_rows = [&](std::string_view predicted, const char* text) {
    const bool any = std::ranges::find(errors, predicted, &ErrorSummary::predicted) != errors.end();
    return doc::Text(any ? text : "");
  };
  const doc::Text about =
      fmt::format("{} whole epochs, {} to {}, commit {}, machine ", log.size(), log.front().date, last.date,
                  last.commit) +
      doc::code(last.machine) +
      fmt::format(
          ". Each was predicted from the first 2 % of its steps, or 96 of them, trained in short runs that "
          "were spread over some seconds, and the hash of the prediction was printed before the epoch began. "
          "A prediction took {} in the median, {} at most. Other processes took {} of the processors in the "
          "median, the host {}.",
          seconds_text(median_of(log, &LoggedEpoch::prediction_seconds)),
          seconds_text(std::ranges::max(log, {}, &LoggedEpoch::prediction_seconds).prediction_seconds),
          percent_text(median_of(log, &LoggedEpoch::other_busy_share)),
          percent_text(median_of(log, &LoggedEpoch::steal_share)));
  out.sections = {
      {.blocks = {about, errors_table(errors), doc::Text(regret_text(log)),
                  about_rows("the same setting, M4 at the pace of the epoch", at_pace_text),
                  about_rows(with_experience, experience_about)}},
      {.title = "Every epoch",
       .blocks = {epochs_table(log), doc::Text("All epochs with their predictions: FNV-1a " + hash)}}};
  return doc::to_markdown(out);
}

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
