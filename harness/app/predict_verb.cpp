#include "app/output.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "assay/report.hpp"
#include "bench/compare/outcome_of.hpp"
#include "bench/exchange/read_results.hpp"
#include "bench/report/content.hpp"
#include "core/machine/clock.hpp"
#include "training/epoch/forecast.hpp"
#include "training/job/read_job.hpp"
#include "training/report/forecast_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

/// Refuses an option that contradicts the file about the job as it was measured: what another value would
/// bring stands in the table of changes.
Index stated(const char* option, const std::string& source, std::optional<Index> in_file, Index given) {
  if (in_file && *in_file != given) {
    throw Error(option, fmt::format("is {}, but {} says {}", given, source, *in_file),
                "leave it out; what other values would bring is predicted beside");
  }
  return given;
}

void complete(Job& job, const JobFacts& options) {
  const auto known = [](Index value) { return value > 0 ? std::optional<Index>(value) : std::nullopt; };
  Dataset& data = job.dataset;
  if (options.train) data.train = stated("--train-size", job.source, known(data.train), *options.train);
  if (options.validation) {
    data.validation = stated("--validation-size", job.source, known(data.validation), *options.validation);
  }
  if (options.batch) data.batch = stated("--batch", job.source, known(data.batch), *options.batch);
  if (options.workers)
    job.loader.workers = stated("--workers", job.source, job.loader.workers, *options.workers);
  if (options.prefetch) {
    const auto in_file = job.loader.prefetch_stated ? std::optional(job.loader.prefetch) : std::nullopt;
    job.loader.prefetch = stated("--prefetch", job.source, in_file, *options.prefetch);
    job.loader.prefetch_stated = true;
  }
  data.drop_last = data.drop_last || options.drop_last;
}

Job read_all(const PredictOptions& options) {
  Job out = read_job(options.files.front(), options.facts.unit);
  for (std::size_t i = 1; i < options.files.size(); ++i) {
    append_windows(out, read_job(options.files[i], options.facts.unit));
  }
  complete(out, options.facts);
  return out;
}

bool is_wrong(const LintFinding& finding) { return finding.contradiction; }

/// A suite states these facts itself, or has no use for them.
void require_none_of_a_job(const PredictOptions& options) {
  const std::string given = first_given(options.facts);
  if (given.empty()) return;
  throw Error(given,
              "is of training jobs, and " + options.files.front().string() + " holds results of a suite",
              "leave it out: the suite says how often each case occurs");
}

/// Another job than the one that was predicted would give an error that means nothing.
void require_same_job(const Job& job, const Job& against) {
  const auto differ = [&](const char* what, Index here, Index there) {
    if (here == there) return;
    throw Error("--against",
                fmt::format("{} has {} {}, and {} has {}", against.source, what, there, job.source, here),
                "compare with a measurement of the same job");
  };
  if (job.dataset.batch > 0 && against.dataset.batch > 0)
    differ("batch", job.dataset.batch, against.dataset.batch);
  if (job.loader.workers && against.loader.workers)
    differ("workers", *job.loader.workers, *against.loader.workers);
}

/// Whether times below zero are among them, which it prints.
bool has_no_times(const std::vector<LintFinding>& findings) {
  if (std::ranges::none_of(findings, [](const LintFinding& f) { return f.rule == Rule::negative; }))
    return false;
  for (const LintFinding& finding : findings) {
    fmt::print("{}: {}: {}\n", to_string(finding.rule), finding.field, finding.text);
  }
  fmt::print("NO PREDICTION: nothing follows from such times\n");
  return true;
}

Outcome predict_suite(const PredictOptions& options) {
  require_none_of_a_job(options);
  const Results results = read_any_results(options.files.front());
  const Report report = make_report(results, std::nullopt, std::nullopt, outcome_of(results));
  if (!options.markdown.empty()) write_file(options.markdown, to_markdown(report));
  put(options.json, prediction_text(results.suite, report.predictions), to_json(report));
  const bool possible =
      std::ranges::any_of(report.predictions, [](const Prediction& p) { return p.impossible.empty(); });
  return {possible ? Word::predicted : Word::no_prediction};
}

Outcome predict_job(const PredictOptions& options) {
  const JobFacts& facts = options.facts;
  const Job job = read_all(options);
  if (has_no_times(lint(job))) return {Word::contradicted};
  std::optional<Job> against;
  if (!facts.against.empty()) {
    // A unit is that of tables; the other side may be a trace.
    const bool table = kind_of_file(facts.against) == JobFile::table;
    against = read_job(facts.against, table ? facts.unit : "");
    require_same_job(job, *against);
    if (has_no_times(lint(*against))) return {Word::contradicted};
  }
  const Forecast answer = forecast(job, against ? &*against : nullptr);
  if (!options.markdown.empty()) write_file(options.markdown, to_markdown(answer));
  put(options.json, to_text(answer), to_json(answer, utc_now()));
  if (!answer.no_epoch.empty() && answer.scores.empty()) {
    throw Error(job.source, "does not say how many steps an epoch has: " + answer.no_epoch,
                "add --train-size and --batch, or \"dataset\" in a job's JSON");
  }
  if (std::ranges::any_of(answer.findings, is_wrong)) return {Word::contradicted};
  const bool none = answer.no_epoch.empty() && most_elaborate(answer.models) == nullptr;
  return {none && answer.scores.empty() ? Word::no_prediction : Word::predicted};
}

}  // namespace

Outcome predict_verb(const PredictOptions& options) {
  const auto& files = options.files;
  const auto results = std::ranges::count(files, JobFile::results, kind_of_file);
  if (results == 0) return predict_job(options);
  if (files.size() > 1) {
    throw Error(files.front().string(), "results of a suite are predicted from alone", "name one file");
  }
  return predict_suite(options);
}

}  // namespace assay
