#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/pipeline.hpp"
#include "assay/random.hpp"
#include "core/text/command.hpp"
#include "core/text/figures.hpp"
#include "training/epoch/epoch_prediction.hpp"
#include "training/report/forecast_report.hpp"

#include <fmt/format.h>

#include <fstream>

namespace assay {
namespace {

std::string hash_of(const std::string& text) { return fmt::format("{:016x}", fnv1a(text)); }

/// The epochs of a log that may not have begun yet.
std::vector<LoggedEpoch> logged(const std::filesystem::path& log) {
  if (log.empty() || !std::filesystem::exists(log)) return {};
  return epoch_log_from(read_file(log), log.string());
}

void log_epoch(const LoggedEpoch& epoch, const std::filesystem::path& log) {
  std::ofstream out(log, std::ios::app);
  out << to_line(epoch) << '\n';
  out.flush();
  if (!out) {
    throw Error(log.string(), "cannot be written", "free space on that disk, or name another file");
  }
}

std::string losses_line(const TrainingPlan& plan, const EpochTimes& times) {
  std::string out = fmt::format("loss: {:.4g} at the first step, {:.4g} at the last",
                                times.steps.front().mean_loss, times.steps.back().mean_loss);
  double sum = 0;
  for (std::size_t i = 0; i < times.validation.size(); ++i) {
    sum += static_cast<double>(plan.validation_size(static_cast<Index>(i))) *
           static_cast<double>(times.validation[i].mean_loss);
  }
  if (!times.validation.empty()) {
    out += fmt::format(", {:.4g} in validation", sum / static_cast<double>(plan.validation_samples));
  }
  return out + "\n";
}

Outcome one_epoch(const std::filesystem::path& file, const EpochOptions& options) {
  const TrainingJob job = training_job_from_json(read_file(file), file);
  const auto earlier = logged(options.log);
  require_memory(job.plan, file.string(), this_machine().memory_bytes);
  const auto training = TrainingMaker::made(job.plan);

  PredictionSettings settings{.calibration = {.share = options.share}};
  if (options.elsewhere) settings.elsewhere.emplace();
  const auto prediction = predict_epoch(*training, job, earlier, settings, Progress().hooks());
  if (!prediction) return {Word::interrupted};
  const std::string json = to_json(prediction->forecast, prediction->made), hash = hash_of(json + "\n");
  if (!options.frozen.empty()) write_file(options.frozen, json + "\n");
  const auto expected = predicted_epoch(prediction->forecast);
  const std::string frozen = fmt::format("frozen at {}: {}, FNV-1a {}{}\n", prediction->made,
                                         expected ? seconds_text(*expected) : "no prediction", hash,
                                         options.frozen.empty() ? "" : ", in " + options.frozen.string());
  if (options.predict_only) {
    put(options.json, to_text(prediction->forecast) + frozen, json);
    return {};
  }
  // Before the epoch, and not among JSON.
  std::FILE* const out = options.json == "-" ? stderr : stdout;
  fmt::print(out, "{}", frozen);
  std::fflush(out);

  const EpochRun epoch = run_epoch(*training, *prediction, Progress().hooks());
  if (!options.timeline.empty()) write_file(options.timeline, timeline_json(job.name, epoch.times));
  if (epoch.partial) {
    const bool trained_all = std::ssize(epoch.times.steps) == job.plan.steps();
    fmt::print("INTERRUPTED after {} of {} steps{}: nothing to compare with\n", epoch.times.steps.size(),
               job.plan.steps(), trained_all ? ", in validation" : "");
    return {Word::interrupted};
  }
  const Forecast known = scored(*prediction, epoch);
  if (!options.markdown.empty()) write_file(options.markdown, to_markdown(known));
  const bool missed = known.known && known.known->missed();
  std::string next;
  if (missed)
    next = fmt::format("next: once more, beside nothing else:  assay epoch --job {}\n",
                       shell_word(file.string()));
  put(options.json, to_text(known, losses_line(job.plan, epoch.times) + next),
      to_json(known, prediction->made));
  if (!options.log.empty()) log_epoch(logged_epoch(*prediction, epoch, known, hash), options.log);
  // Prediction and epoch disagree, whatever the cause: plans by such a prediction would be as wrong. An
  // interval of 90 % misses one epoch of ten by luck alone.
  return {missed ? Word::missed : Word::predicted};
}

}  // namespace

Outcome score_verb(const ScoreOptions& options) {
  const std::string text = read_file(options.score);
  const std::string summary = epoch_log_markdown(epoch_log_from(text, options.score.string()), hash_of(text));
  if (!options.markdown.empty()) write_file(options.markdown, summary);
  fmt::print("{}", summary);
  return {};
}

Outcome epoch_verb(const EpochOptions& options) {
  const bool single = !options.frozen.empty() || !options.timeline.empty() || !options.markdown.empty() ||
                      !options.json.empty();
  if (options.jobs.size() > 1 && single) {
    throw Error("--job", "is given several times, and --frozen, --timeline, --md and --json are of one epoch",
                "run the jobs one by one, or gather them with --log");
  }
  Outcome worst;
  for (const auto& job : options.jobs) {
    Outcome outcome = one_epoch(job, options);
    if (outcome.word == Word::interrupted) return outcome;
    if (fails(outcome.word)) worst = std::move(outcome);
  }
  return worst;
}

}  // namespace assay
