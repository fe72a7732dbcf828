#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/clock.hpp"
#include "core/text/figures.hpp"
#include "training/epoch/epoch_log.hpp"
#include "training/epoch/timeline.hpp"
#include "training/report/forecast_report.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>

namespace assay {
namespace {

std::string hash_of(const std::string& text) { return fmt::format("{:016x}", fnv1a(text)); }

/// One job from its calibration to the end of its epoch.
class Epoch {
 public:
  Epoch(const std::filesystem::path& file, const EpochOptions& options)
      : options_(options),
        job_(training_job_from_json(read_file(file), file)),
        earlier_(logged(options.log)),
        training_(made(job_, file)) {}

  int run() {
    predict();
    if (interrupted_) return exit_code::interrupted;
    if (options_.predict_only) {
      put(options_.json, to_text(forecast_) + frozen_line(), to_json(forecast_, made_));
      return exit_code::passed;
    }
    // Before the epoch, and not among JSON.
    std::FILE* const out = options_.json == "-" ? stderr : stdout;
    fmt::print(out, "{}", frozen_line());
    std::fflush(out);
    const EpochRun epoch = trained();
    if (!options_.timeline.empty()) {
      write_file(options_.timeline, timeline_json(job_.name, epoch.times));
    }
    if (epoch.partial) {
      const bool trained_all = std::ssize(epoch.times.steps) == job_.plan.steps();
      fmt::print("INTERRUPTED after {} of {} steps{}: nothing to compare with\n", epoch.times.steps.size(),
                 job_.plan.steps(), trained_all ? ", in validation" : "");
      return exit_code::interrupted;
    }
    const Job truth = measured_job(job_, epoch);
    Forecast scored = forecast(measured_, &truth);
    scored.experience = forecast_.experience;
    const Interval& expected = scored.experience.seconds;
    if (expected.coverage > 0) {
      scored.experience.held = expected.low <= epoch.times.seconds && epoch.times.seconds <= expected.high;
    }
    if (!options_.markdown.empty()) write_file(options_.markdown, to_markdown(scored));
    put(options_.json, to_text(scored) + losses_line(epoch), to_json(scored, made_));
    if (!options_.log.empty()) log(epoch, scored.scores.back());
    return exit_code::passed;
  }

 private:
  /// The epochs of a log that may not have begun yet.
  static std::vector<LoggedEpoch> logged(const std::filesystem::path& log) {
    if (log.empty() || !std::filesystem::exists(log)) return {};
    return epoch_log_from(read_file(log), log.string());
  }
  static std::unique_ptr<Training> made(const TrainingJob& job, const std::filesystem::path& file) {
    require_memory(job.plan, file.string(), this_machine().memory_bytes);
    return TrainingMaker::made(job.plan);
  }

  void predict() {
    Progress progress;
    const Hooks hooks = progress.hooks();
    const auto start = std::chrono::steady_clock::now();
    measured_ = calibration_of(*training_, job_, {.share = options_.share}, hooks);
    interrupted_ = hooks.stopped();
    if (interrupted_) return;
    forecast_ = forecast(measured_);
    if (const ModelPrediction* best = most_elaborate(forecast_.models)) {
      forecast_.experience =
          experience(best->seconds, earlier_errors(earlier_, this_machine().key, name_of(best->model)));
    }
    made_ = utc_now();
    if (options_.elsewhere) {
      elsewhere_ = elsewhere(*training_, job_.plan, forecast_.calibration, usual_settings(),
                             seconds_of(forecast_.segments), {}, hooks);
    }
    prediction_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::string text = to_json(forecast_, made_) + "\n";
    frozen_ = hash_of(text);
    if (!options_.frozen.empty()) write_file(options_.frozen, text);
  }

  std::string frozen_line() const {
    const auto epoch = predicted_epoch(forecast_);
    return fmt::format("frozen at {}: {}, FNV-1a {}{}\n", made_,
                       epoch ? seconds_text(*epoch) : "no prediction", frozen_,
                       options_.frozen.empty() ? "" : ", in " + options_.frozen.string());
  }

  EpochRun trained() {
    Progress progress;
    const Hooks hooks = progress.hooks();
    const double steps = static_cast<double>(job_.plan.steps());
    const ModelPrediction* best = most_elaborate(forecast_.models);
    const std::string predicted = best == nullptr ? "" : ", predicted " + seconds_text(best->seconds.middle);
    double shown = 0;
    return run_epoch(
        *training_, job_.plan,
        [&](Index done, double seconds) {
          // Text costs microseconds, and steps of a small network take tens of them.
          if (seconds - shown < 0.5) return;
          shown = seconds;
          hooks.say(fmt::format("step {} of {}, about {} in all{}", done, job_.plan.steps(),
                                seconds_text(seconds * steps / static_cast<double>(done)), predicted));
        },
        hooks);
  }

  std::string losses_line(const EpochRun& epoch) const {
    const EpochTimes& times = epoch.times;
    std::string out = fmt::format("loss: {:.4g} at the first step, {:.4g} at the last",
                                  times.steps.front().mean_loss, times.steps.back().mean_loss);
    double sum = 0;
    for (std::size_t i = 0; i < times.validation.size(); ++i) {
      sum += static_cast<double>(job_.plan.validation_size(static_cast<Index>(i))) *
             static_cast<double>(times.validation[i].mean_loss);
    }
    if (!times.validation.empty()) {
      out += fmt::format(", {:.4g} in validation", sum / static_cast<double>(job_.plan.validation_samples));
    }
    return out + "\n";
  }

  void log(const EpochRun& epoch, const Score& score) const {
    LoggedEpoch line{.job = job_,
                     .date = made_,
                     .commit = build_info().commit,
                     .machine = this_machine().key,
                     .frozen = frozen_,
                     .seconds = epoch.times.seconds,
                     .prediction_seconds = prediction_seconds_,
                     .predicted_step = score.predicted_step,
                     .measured_step = score.measured_step,
                     .other_busy_share = epoch.weather.other_busy_share,
                     .steal_share = epoch.weather.steal_share,
                     .experience = forecast_.experience,
                     .elsewhere = elsewhere_};
    for (const ModelPrediction& one : forecast_.models) {
      if (one.impossible.empty()) line.models.push_back({std::string(name_of(one.model)), one.seconds});
    }
    for (const Segment& one : forecast_.segments) {
      if (one.kind == SegmentKind::cold_pages) continue;  // not timed apart from the steps
      line.segments.push_back({std::string(to_string(one.kind)), one.seconds,
                               one.kind == SegmentKind::validation ? epoch.times.validation_seconds()
                                                                   : epoch.times.checkpoint_seconds()});
    }
    std::ofstream out(options_.log, std::ios::app);
    out << to_line(line) << '\n';
    out.flush();
    if (!out) {
      throw Error(options_.log.string(), "cannot be written",
                  "free space on that disk, or name another file");
    }
  }

  const EpochOptions& options_;
  TrainingJob job_;
  std::vector<LoggedEpoch> earlier_;
  std::unique_ptr<Training> training_;
  Job measured_;
  Forecast forecast_;
  std::vector<Elsewhere> elsewhere_;
  std::string made_, frozen_;
  double prediction_seconds_ = 0;
  bool interrupted_ = false;
};

}  // namespace

int score_verb(const ScoreOptions& options) {
  const std::string text = read_file(options.score);
  const std::string summary = epoch_log_markdown(epoch_log_from(text, options.score.string()), hash_of(text));
  if (!options.markdown.empty()) write_file(options.markdown, summary);
  fmt::print("{}", summary);
  return exit_code::passed;
}

int epoch_verb(const EpochOptions& options) {
  const bool single = !options.frozen.empty() || !options.timeline.empty() || !options.markdown.empty() ||
                      !options.json.empty();
  if (options.jobs.size() > 1 && single) {
    throw Error("--job", "is given several times, and --frozen, --timeline, --md and --json are of one epoch",
                "run the jobs one by one, or gather them with --log");
  }
  for (const auto& job : options.jobs) {
    const int code = Epoch(job, options).run();
    if (code != exit_code::passed) return code;
  }
  return exit_code::passed;
}

}  // namespace assay
