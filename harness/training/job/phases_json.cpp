#include "training/job/read_job.hpp"

#include "core/json/fields.hpp"
#include "core/machine/fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace assay {
namespace {

constexpr Index most = Index{1} << 50;

/// A time below zero is a finding of lint().
Fields::Rule time_rule(bool optional, std::string_view about = {}) {
  return {.optional = optional, .least = -most_seconds, .most = most_seconds, .about = about};
}

void require_some(const Fields& f, std::string_view name, const std::vector<double>& seconds) {
  if (!f.reads() || !seconds.empty() || !f.place().find(name)) return;
  f.refuse(name, "must hold the time of at least one step");
}

void quoted(Fields& f, std::string_view name, std::optional<Quoted>& value, Quantity quantity,
            std::string_view example) {
  std::optional<std::string> text;
  if (value) text = value->text;
  f(name, text, {.about = example});
  if (!f.reads() || !text) return;
  value = parse_quoted(*text);
  if (value && value->quantity == quantity) return;
  f.refuse(name, fmt::format("is \"{}\", must be a figure with its unit as a text, such as \"{}\"", *text,
                             example));
}

}  // namespace

template <>
struct Form<Quoted> : Form<std::string> {
  static Json json(const Quoted& value, const Fields::Rule&) { return value.text; }
  static void read(const JsonField& field, Quoted& value, const Fields::Rule&) {
    const auto parsed = parse_quoted(field.text());
    if (!parsed) {
      field.refuse(
          fmt::format("is \"{}\", must be a figure such as \"0.0238 s\" or \"34221\"", field.text()));
    }
    value = *parsed;
  }
};

// Beside the types, where argument-dependent lookup finds them.
void describe(Fields& f, Dataset& dataset) {
  f.only<Dataset>();
  f("train", dataset.train, {.optional = true, .low = 0, .high = most, .about = "samples of an epoch"});
  f("validation", dataset.validation, {.optional = true, .low = 0, .high = most});
  f("batch", dataset.batch, {.optional = true, .low = 1, .high = most, .about = "samples of a step"});
  f("drop_last", dataset.drop_last, {.optional = true});
  f("checkpoint_every", dataset.checkpoint_every,
    {.optional = true, .low = 0, .high = most, .about = "steps; 0: none"});
}

void describe(Fields& f, LoaderSetup& loader) {
  const Fields::Rule factor{
      .optional = true, .above = 0, .most = 1e6, .about = "the time together by the time alone"};
  f.only<LoaderSetup>();
  f("workers", loader.workers, {.low = 0, .high = 4096});
  f("prefetch", loader.prefetch,
    {.optional = true, .low = 1, .high = 4096, .about = "batches under way per worker"});
  if (f.reads()) loader.prefetch_stated = f.place().find("prefetch").has_value();
  f("in_order", loader.in_order, {.optional = true});
  f("load_contention", loader.load_contention, factor);
  f("compute_contention", loader.compute_contention, factor);
}

void describe(Fields& f, TimedWindow& window) {
  f.only<TimedWindow>();
  f("first_step", window.first_step, {.optional = true, .low = 0, .high = most});
  std::optional<int> run = window.run;
  f("run", run, {.low = 0, .high = 1'000'000, .about = "windows of one run may nest"});
  f("cache", window.cache, page_cache_words, {.optional = true});
  f("step_seconds", window.step_seconds, time_rule(true, "of each step"));
  require_some(f, "step_seconds", window.step_seconds);
  const auto counted = static_cast<Index>(window.step_seconds.size());
  if (f.reads()) {
    window.run = run.value_or(-1);
    window.steps = counted;
    window.wall_seconds = std::accumulate(window.step_seconds.begin(), window.step_seconds.end(), 0.0);
  }
  const bool known = counted > 0 || f.tells();
  f("steps", window.steps, {.optional = known, .low = 1, .high = most});
  f("wall_seconds", window.wall_seconds, time_rule(known));
  if (f.reads() && counted > 0 && window.steps != counted) {
    f.refuse("steps", fmt::format("is {}, but step_seconds holds {}", window.steps, counted));
  }
}

void describe(Fields& f, StepPhase& phase) {
  f.only<StepPhase>();
  f("kind", phase.kind, phase_kind_words);
  f("scope", phase.scope, scope_words, {.optional = true});
  f("overlaps", phase.overlaps, {.optional = true, .about = "runs beside the step"});
  f("seconds", phase.seconds, time_rule(true, "of single steps in order"));
  require_some(f, "seconds", phase.seconds);
  const auto counted = static_cast<Index>(phase.seconds.size());
  double mean = 0;
  if (counted > 0) {
    mean = std::accumulate(phase.seconds.begin(), phase.seconds.end(), 0.0) / static_cast<double>(counted);
  }
  if (f.reads()) {
    phase.mean_seconds = mean;
    phase.samples = counted;
  }
  f("mean_seconds", phase.mean_seconds, time_rule(counted > 0 || f.tells(), "per step"));
  f("samples", phase.samples, {.terse = true, .low = 1, .high = most, .about = "steps behind the mean"});
  quoted(f, "share", phase.share, Quantity::share, "44.3 %");
  if (!f.reads() || counted == 0) return;
  if (phase.samples != counted) {
    f.refuse("samples", fmt::format("is {}, but seconds holds {}", phase.samples, counted));
  }
  if (std::abs(phase.mean_seconds - mean) > 0.02 * std::abs(mean)) {
    f.refuse("mean_seconds", fmt::format("is {}, but the mean of seconds is {}", phase.mean_seconds, mean));
  }
  phase.mean_seconds = mean;
}

void describe(Fields& f, Claim& claim) {
  f.only<Claim>();
  f("where", claim.where, {.optional = true, .about = "the row or paragraph it stands in"});
  f("batch", claim.batch, {.low = 1, .high = most});
  f("steps", claim.steps, {.low = 1, .high = most});
  quoted(f, "step", claim.step, Quantity::seconds, "0.0997 s");
  quoted(f, "throughput", claim.throughput, Quantity::samples_per_second, "5,641/s");
  quoted(f, "epoch", claim.epoch, Quantity::seconds, "56.7 min");
  quoted(f, "minimum", claim.minimum, Quantity::seconds, "21.7 min");
  f("derivation", claim.derivation, {.optional = true, .about = "factors of the minimum"});
  quoted(f, "total", claim.total, Quantity::seconds, "0.0238 s");
  f("of", claim.of, {.optional = true, .about = "phases that the total is the sum of"});
  quoted(f, "slower", claim.slower, Quantity::count, "3.6");
  quoted(f, "throughput_change", claim.throughput_change, Quantity::share, "-72 %");
  if (f.reads() && claim.total && claim.of.empty()) {
    f.place().refuse("has a \"total\" without the phases \"of\" which it is the sum");
  }
}

void describe(Fields& f, Job& job) {
  f.schema(job_schema);
  f.only<Job>();
  f("job", job.name);
  f("hardware", job.hardware, {.optional = true});
  f.derived("source", job.source, {.about = "where the figures are from, for people"});
  f("dataset", job.dataset, {.optional = true});
  f("loader", job.loader, {.optional = true});
  f("windows", job.windows, {.optional = true, .about = "consecutive steps that were timed together"});
  f.keyed("phases", job.phases, &StepPhase::name, {.optional = true, .about = "of a step, by name"});
  f("weather", job.weather, {.optional = true});
  f("cores", job.cores, {.optional = true, .low = 0, .high = 65536, .about = "that the job may use"});
  f("processor_seconds", job.processor_seconds,
    {.optional = true,
     .least = 0,
     .most = most_seconds,
     .about = "of a step and its workers, all processes"});
  f("one_off_seconds", job.one_off_seconds, time_rule(true, "of an epoch, beyond its steps"));
  f("measured_epoch_seconds", job.epoch_seconds, time_rule(true));
  f("claims", job.claims, {.optional = true, .about = "of a report, to be checked for their arithmetic"});
  // Windows that do not say so are no parts of one run.
  for (std::size_t i = 0; f.reads() && i < job.windows.size(); ++i) {
    if (job.windows[i].run < 0) job.windows[i].run = static_cast<int>(1'000'001 + i);
  }
}

Job read_phases_json(const std::string& text, const std::string& where) {
  const Json file = parse_json(text, where);
  auto out = value_from<Job>(JsonField(file, where, "harness/training/README.md describes the format"));
  out.source = where;
  return out;
}

}  // namespace assay
