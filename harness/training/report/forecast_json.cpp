#include "core/machine/fields.hpp"
#include "training/report/forecast_report.hpp"

namespace assay {
namespace {

/// Of what stands beside "no_epoch" or "impossible", and not with it.
constexpr Fields::Rule if_possible{.optional = true};

}  // namespace

// Beside the types, where argument-dependent lookup finds them.
void describe(Fields& f, Flag& one) {
  f.derived("doubt", std::string(to_string(one.doubt)));
  f("text", one.text);
}

void describe(Fields& f, StepPart& one) {
  f("name", one.name);
  f.derived("kind", std::string(to_string(one.kind)));
  f("mean_seconds", one.mean);
}

void describe(Fields& f, Segment& one) {
  f.derived("segment", std::string(to_string(one.kind)));
  f("count", one.count);
  f("mean_seconds", one.mean);
  f("seconds", one.seconds);
}

void describe(Fields& f, ModelPrediction& one) {
  f.derived("model", std::string(name_of(one.model)));
  f.derived("idea", std::string(idea_of(one.model)));
  f("impossible", one.impossible, {.terse = true, .about = "why there is none"});
  if (f.writes() && !one.impossible.empty()) return;
  f("seconds", one.seconds, if_possible);
  f("one_off_seconds", one.one_off, if_possible);
  f("period_seconds", one.period, if_possible);
  f("partial_seconds", one.partial, if_possible);
  f("validation_seconds", one.validation, if_possible);
  f("checkpoint_seconds", one.checkpoints, if_possible);
  f("cold_pages_seconds", one.cold_pages, if_possible);
  f("no_interval", one.no_interval, {.terse = true, .about = "why"});
}

void describe(Fields& f, EpochBound& one) {
  f("resource", one.resource);
  f("seconds", one.seconds);
  f("text", one.text);
}

void describe(Fields& f, WhatIf& one) {
  f("change", one.change);
  f("seconds", one.seconds);
  f("saved_seconds", one.saved);
  f("least_seconds", one.least);
  f("most_seconds", one.most);
  f("given", one.given, {.about = "what it takes for granted"});
}

void describe(Fields& f, ModelError& one) {
  f.derived("model", std::string(name_of(one.model)));
  f("predicted_seconds", one.predicted);
  f("error", one.error, {.about = "predicted by measured, less 1"});
  f("inside", one.inside);
}

void describe(Fields& f, PhaseError& one) {
  f("phase", one.name);
  f("per", one.per);
  f("predicted_seconds", one.predicted);
  f("measured_seconds", one.measured);
  f("error", one.error);
}

void describe(Fields& f, Score& one) {
  f("measured", one.measured);
  f("seconds", one.seconds);
  f("drift", one.drift);
  f("models", one.models);
  f("phases", one.phases);
}

void describe(Fields& f, KnownEpoch& one) {
  f("seconds", one.seconds, {.about = "that it took"});
  f("predicted", one.predicted);
  f("inside", one.inside, {.about = "that interval"});
  f("weather", one.weather);
}

namespace {

/// A forecast as files hold it.
struct DatedForecast {
  Forecast forecast;
  std::string made;
};

struct LoaderOfForecast {
  std::optional<Index> workers;
  LoaderQueue queue;
  bool contention_assumed = false;
};

/// Experience with what became of it.
struct KnownExperience {
  Experience experience;
};

void describe(Fields& f, LoaderOfForecast& loader) {
  f("workers", loader.workers, {.null = true});
  f("prefetch", loader.queue.prefetch);
  f("in_order", loader.queue.in_order);
  f("load_contention", loader.queue.load_contention, {.about = "the time together by the time alone"});
  f("compute_contention", loader.queue.compute_contention);
  f("contention_assumed", loader.contention_assumed, {.about = "nobody measured it"});
}

void describe(Fields& f, KnownExperience& known) {
  f("epochs", known.experience.epochs);
  f("seconds", known.experience.seconds);
  f("inside", known.experience.held);
}

void describe(Fields& f, DatedForecast& dated) {
  Forecast& out = dated.forecast;
  Calibration& c = out.calibration;
  LoaderOfForecast loader{out.job.loader.workers, out.queue, c.contention_assumed};
  f.schema("assay.forecast/1");
  f.derived("outcome", outcome_text(out),
            {.about = "MISSED begins it where the epoch lay outside its interval"});
  f("made", dated.made);
  f("job", out.job.name);
  f("hardware", out.job.hardware);
  f("from", out.job.source);
  f("notes", out.job.notes);
  f("findings", out.findings);
  f("doubts", c.flags);
  f("parts", c.parts, {.about = "of a step"});
  f("loader", loader);
  f("limited_by", out.limited_by);
  f("no_epoch", out.no_epoch, {.terse = true, .about = "why none is predicted"});
  if (!f.writes() || out.no_epoch.empty()) {
    f("full_steps", out.steps.full, if_possible);
    f("partial_samples", out.steps.partial_samples, if_possible);
    f.derived("one_off_seconds", c.one_off_known ? std::optional(c.one_off) : std::nullopt);
    f("segments", out.segments, if_possible);
    f("models", out.models, if_possible);
    f.derived("experience",
              out.experience.epochs > 0 ? std::optional(KnownExperience{out.experience}) : std::nullopt);
    f("bounds", out.bounds, if_possible);
    f("what_if", out.what_if, if_possible);
    f("left_out", out.left_out, if_possible);
  }
  f("scores", out.scores, {.about = "against what was measured"});
  f("known", out.known, {.optional = true, .about = "what became of the epoch"});
}

}  // namespace

Json forecast_schema() { return schema_of<DatedForecast>(); }

Json to_value(const Forecast& f, const std::string& made) { return to_value(DatedForecast{f, made}); }

std::string to_json(const Forecast& f, const std::string& made) { return json_text(to_value(f, made)); }

}  // namespace assay
