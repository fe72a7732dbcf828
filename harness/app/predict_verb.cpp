// The verbs that predict an epoch: predict, and epoch, which then runs it.

#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/random.hpp"
#include "assay/report.hpp"
#include "bench/compare/words.hpp"
#include "bench/exchange/read_results.hpp"
#include "bench/report/content.hpp"
#include "core/text/command.hpp"
#include "core/text/figures.hpp"
#include "training/epoch/epoch_prediction.hpp"
#include "training/epoch/forecast.hpp"
#include "training/job/read_job.hpp"
#include "training/report/forecast_report.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

namespace assay {
namespace {

/// Takes facts of options into the job. Refuses an option that contradicts the file about the job as it was
/// measured: the table of changes says what another value would bring.
void complete(Job& job, const JobFacts& options) {
  const auto take = [&](const char* option, Index& value, bool in_file, std::optional<Index> given) {
    if (!given) return;
    if (in_file && value != *given) {
      throw Error(option, fmt::format("is {}, but {} says {}", *given, job.source, value),
                  "leave it out; what other values would bring is predicted beside");
    }
    value = *given;
  };
  Dataset& data = job.dataset;
  LoaderSetup& loader = job.loader;
  take("--train-size", data.train, data.train > 0, options.train);
  take("--validation-size", data.validation, data.validation > 0, options.validation);
  take("--batch", data.batch, data.batch > 0, options.batch);
  Index workers = loader.workers.value_or(0);
  take("--workers", workers, loader.workers.has_value(), options.workers);
  if (options.workers) loader.workers = workers;
  take("--prefetch", loader.prefetch, loader.prefetch_stated, options.prefetch);
  loader.prefetch_stated = loader.prefetch_stated || options.prefetch;
  data.drop_last = data.drop_last || options.drop_last;
}

/// Another job than the one that was predicted would give an error that means nothing.
void require_same_job(const Job& job, const Job& against) {
  const auto compare = [&](const char* what, std::optional<Index> here, std::optional<Index> there) {
    if (!here || !there || here == there) return;
    throw Error("--against",
                fmt::format("{} has {} {}, and {} has {}", against.source, what, *there, job.source, *here),
                "compare with a measurement of the same job");
  };
  if (job.dataset.batch > 0 && against.dataset.batch > 0)
    compare("batch", job.dataset.batch, against.dataset.batch);
  compare("workers", job.loader.workers, against.loader.workers);
}

/// Whether times below zero are among them, which it prints.
bool has_no_times(const std::vector<LintFinding>& findings) {
  if (std::ranges::none_of(findings, [](const LintFinding& f) { return f.rule == Rule::negative; }))
    return false;
  for (const LintFinding& finding : findings) {
    print_visible(stdout, "{}: {}: {}\n", to_string(finding.rule), finding.field, finding.text);
  }
  print_visible(stdout, "NO PREDICTION: nothing follows from such times\n");
  return true;
}

Outcome predict_suite(const PredictOptions& options) {
  // A suite states these facts itself, or has no use for them.
  if (const std::string given = first_given(options.facts); !given.empty()) {
    throw Error(given,
                "is of training jobs, and " + options.files.front().string() + " holds results of a suite",
                "leave it out: the suite says how often each case occurs");
  }
  const Results results = read_any_results(options.files.front());
  const Report report = make_report(results, std::nullopt, std::nullopt, outcome_of(results));
  if (!options.outputs.markdown.empty()) write_file(options.outputs.markdown, to_markdown(report));
  write_page(options.outputs.page, [&] { return report_page(report); });
  put(options.outputs.json, prediction_text(results.suite, report.predictions), to_json(report));
  const bool possible =
      std::ranges::any_of(report.predictions, [](const Prediction& p) { return p.impossible.empty(); });
  return {possible ? Word::predicted : Word::no_prediction};
}

Outcome predict_job(const PredictOptions& options) {
  const JobFacts& facts = options.facts;
  Job job = read_job(options.files.front(), facts.unit);
  for (std::size_t i = 1; i < options.files.size(); ++i)
    append_windows(job, read_job(options.files[i], facts.unit));
  complete(job, facts);
  if (has_no_times(lint(job))) return {Word::contradicted};
  std::optional<Job> against;
  if (!facts.against.empty()) {
    // The unit is of tables; the other side may be a trace.
    const bool table = kind_of_file(facts.against) == JobFile::table;
    against = read_job(facts.against, table ? facts.unit : "");
    require_same_job(job, *against);
    if (has_no_times(lint(*against))) return {Word::contradicted};
  }
  const Forecast answer = forecast(job, against ? &*against : nullptr);
  publish(options.outputs, document_of(answer, utc_now()), to_text(answer));
  if (!answer.no_epoch.empty() && answer.scores.empty()) {
    throw Error(job.source, "does not say how many steps an epoch has: " + answer.no_epoch,
                "give --train-size and --batch, or \"dataset\" in a job's JSON");
  }
  if (std::ranges::any_of(answer.findings, &LintFinding::contradiction)) return {Word::contradicted};
  const Word word = word_of(answer);
  const bool scored_alone = !answer.scores.empty() && (word == Word::no_epoch || word == Word::no_prediction);
  return {scored_alone ? Word::predicted : word};
}

/// The epoch that goes on: its last window, and the waits of these steps.
void keep_last_window(Job& job) {
  job.windows.erase(job.windows.begin(), job.windows.end() - 1);
  const Index steps = job.windows.front().steps;
  for (StepPhase& phase : job.phases) {
    if (phase.scope != Scope::training || std::ssize(phase.seconds) <= steps) continue;
    phase = timed_phase(phase.name, phase.kind, {phase.seconds.end() - steps, phase.seconds.end()},
                        phase.overlaps);
  }
}

/// "left 14.0 s [12.0, 19.0], then validation 2.00 s".
std::string left_text(const Forecast& f) {
  const Job& job = f.job;
  const bool trained = job.windows.front().steps >= f.steps.steps();
  Interval left = shifted(*predicted_epoch(f), -job.windows.front().wall_seconds - seconds_of(f.segments));
  for (double* end : {&left.low, &left.middle, &left.high}) *end = trained ? 0 : std::max(0.0, *end);
  std::string out = fmt::format("left {}", fine_seconds_text(left));
  for (const Segment& one : f.segments) {
    const bool begun = trained && one.kind == SegmentKind::validation;
    const double done =
        begun ? static_cast<double>(job.validated) / static_cast<double>(job.dataset.validation) : 0;
    out += fmt::format(", then {} {}", to_string(one.kind),
                       seconds_text(std::max(0.0, 1 - done) * one.seconds.middle));
  }
  return out;
}

/// Follows the lines that a training adds to the file, until its epoch, with validation, or the training is
/// over.
Outcome watch(const PredictOptions& options) {
  const std::string file = options.files.front().string();
  if (options.files.size() > 1 || !options.facts.against.empty())
    throw Error("--watch", "follows one file, and compares it with none",
                "leave out other files and --against");
  constexpr Index enough = 3;
  bool waits = false;
  Index told = 0;  // steps
  for (constexpr std::chrono::seconds pause{2}; !interrupted(); std::this_thread::sleep_for(pause)) {
    std::string text = std::filesystem::exists(file) ? read_file(file) : "";
    text.erase(text.rfind('\n') + 1);  // the last line may be half written
    if (text.find(",training,") == std::string::npos && (text.empty() || text.starts_with("step,step_s,"))) {
      if (!std::exchange(waits, true))
        print_visible(stderr, "waits for the first step of a training with ASSAY_STEPS={}\n", file);
      continue;
    }
    Job job = read_step_csv(text, file, options.facts.unit);
    if (job.process == 0) {
      throw Error(file, "does not say which process writes it",
                  "name the file of $ASSAY_STEPS, which assay.timed() writes");
    }
    complete(job, options.facts);
    keep_last_window(job);
    const bool ended = kill(static_cast<pid_t>(job.process), 0) != 0 && errno == ESRCH;
    const Index done = job.windows.front().steps, validation = job.dataset.validation;
    if (done < told) return {Word::predicted};  // the next epoch has begun
    if (done < enough && !ended) continue;
    const Forecast answer = forecast(job);
    if (!answer.no_epoch.empty())
      throw Error(file, "has no epoch to predict: " + answer.no_epoch, "give --train-size and --batch");
    const Index steps = answer.steps.steps();
    for (const std::string& one : answer.left_out)
      if (told == 0) print_visible(stderr, "left out: {}\n", one);
    told = done;
    publish(options.outputs, document_of(answer, utc_now()),
            fmt::format("step {} of {}: {}\n", done, steps, left_text(answer)));
    std::fflush(stdout);
    const bool validates = std::ranges::count(job.phases, Scope::validation, &StepPhase::scope) > 0;
    if (done >= steps && (!validates || (validation > 0 ? job.validated >= validation : ended)))
      return {Word::predicted};
    if (ended)
      return {Word::undecided, fmt::format("process {} ended before its {} did", job.process,
                                           done < steps ? "epoch" : "validation")};
  }
  return {Word::interrupted};
}

std::string hash_of(const std::string& text) { return fmt::format("{:016x}", fnv1a(text)); }

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
  std::vector<LoggedEpoch> earlier;  // none of a log that has not begun yet
  if (!options.log.empty() && std::filesystem::exists(options.log))
    earlier = epoch_log_from(read_file(options.log), options.log.string());
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
    put(options.outputs.json, to_text(prediction->forecast) + frozen, json);
    return {};
  }
  // Before the epoch, and not among JSON.
  std::FILE* const out = options.outputs.json == "-" ? stderr : stdout;
  print_visible(out, "{}", frozen);
  std::fflush(out);

  const EpochRun epoch = run_epoch(*training, *prediction, Progress().hooks());
  if (!options.timeline.empty()) write_file(options.timeline, timeline_json(job.name, epoch.times));
  if (epoch.partial) {
    const bool trained_all = std::ssize(epoch.times.steps) == job.plan.steps();
    print_visible(stdout, "INTERRUPTED after {} of {} steps{}: nothing to compare with\n",
                  epoch.times.steps.size(), job.plan.steps(), trained_all ? ", in validation" : "");
    return {Word::interrupted};
  }
  const Forecast known = scored(*prediction, epoch);
  const bool missed = known.known && known.known->missed();
  const std::string again =
      fmt::format("assay epoch --job {}  # beside nothing else", shell_word(file.string()));
  publish(options.outputs, document_of(known, prediction->made),
          to_text(known, losses_line(job.plan, epoch.times) + (missed ? next_line(again) : "")));
  if (!options.log.empty()) {
    append_to_file(options.log, to_line(logged_epoch(*prediction, epoch, known, hash)) + "\n",
                   "free space on that disk, or name another file");
  }
  // Prediction and epoch disagree, whatever the cause: plans by such a prediction would be as wrong. An
  // interval of 90 % misses one epoch of ten by luck alone.
  return {missed ? Word::missed : Word::predicted};
}

}  // namespace

Outcome predict_verb(const PredictOptions& options) {
  const auto& files = options.files;
  if (options.watch) return watch(options);
  const auto results = std::ranges::count(files, JobFile::results, kind_of_file);
  if (results == 0) return predict_job(options);
  if (files.size() > 1) {
    throw Error(files.front().string(), "results of a suite are predicted from alone", "name one file");
  }
  return predict_suite(options);
}

Outcome score_verb(const ScoreOptions& options) {
  const std::string text = read_file(options.score);
  const std::string summary = epoch_log_markdown(epoch_log_from(text, options.score.string()), hash_of(text));
  if (!options.markdown.empty()) write_file(options.markdown, summary);
  print_visible(stdout, "{}", summary);
  return {};
}

Outcome epoch_verb(const EpochOptions& options) {
  const auto& [markdown, page, json] = options.outputs;
  const bool single = !options.frozen.empty() || !options.timeline.empty() || !markdown.empty() ||
                      !page.html.empty() || !page.svg.empty() || !json.empty();
  if (options.jobs.size() > 1 && single) {
    throw Error(
        "--job",
        "is given several times, and --frozen, --timeline, --md, --html, --svg and --json are of one epoch",
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
