#include "core/json/json.hpp"
#include "training/report/forecast_report.hpp"

namespace assay {
namespace {

Json json_of(const Interval& seconds) {
  return {{"low", seconds.low},
          {"middle", seconds.middle},
          {"high", seconds.high},
          {"coverage", seconds.coverage}};
}

Json json_of(const ModelPrediction& one) {
  Json out{{"model", name_of(one.model)}, {"idea", idea_of(one.model)}};
  if (!one.impossible.empty()) {
    out["impossible"] = one.impossible;
    return out;
  }
  out["seconds"] = json_of(one.seconds);
  out["one_off_seconds"] = one.one_off;
  out["period_seconds"] = one.period;
  out["partial_seconds"] = one.partial;
  out["validation_seconds"] = one.validation;
  out["checkpoint_seconds"] = one.checkpoints;
  out["cold_pages_seconds"] = one.cold_pages;
  if (!one.no_interval.empty()) out["no_interval"] = one.no_interval;
  return out;
}

Json json_of(const Score& one) {
  Json models = Json::array(), phases = Json::array();
  for (const ModelError& model : one.models) {
    Json row{{"model", name_of(model.model)}, {"predicted_seconds", model.predicted}, {"error", model.error}};
    if (model.inside) row["inside"] = *model.inside;
    models.push_back(std::move(row));
  }
  for (const PhaseError& phase : one.phases) {
    phases.push_back({{"phase", phase.name},
                      {"per", phase.per},
                      {"predicted_seconds", phase.predicted},
                      {"measured_seconds", phase.measured},
                      {"error", phase.error}});
  }
  return {{"measured", one.measured},
          {"seconds", one.seconds},
          {"drift", one.drift},
          {"models", std::move(models)},
          {"phases", std::move(phases)}};
}

template <typename Rows, typename Make>
Json list(const Rows& rows, const Make& make) {
  Json out = Json::array();
  for (const auto& row : rows) out.push_back(make(row));
  return out;
}

}  // namespace

std::string to_json(const Forecast& f, const std::string& made) {
  const Calibration& c = f.calibration;
  Json out{{"schema", "assay.forecast/1"}, {"made", made},         {"job", f.job.name},
           {"hardware", f.job.hardware},   {"from", f.job.source}, {"notes", f.job.notes}};
  out["findings"] = list(f.findings, [](const LintFinding& one) {
    return Json{{"rule", to_string(one.rule)},
                {"field", one.field},
                {"text", one.text},
                {"contradiction", one.contradiction}};
  });
  out["doubts"] = list(c.flags, [](const Flag& one) {
    return Json{{"doubt", to_string(one.doubt)}, {"text", one.text}};
  });
  out["parts"] = list(c.parts, [](const StepPart& one) {
    return Json{{"name", one.name}, {"kind", to_string(one.kind)}, {"mean_seconds", one.mean}};
  });
  out["loader"] = {{"workers", f.job.loader.workers ? Json(*f.job.loader.workers) : Json()},
                   {"prefetch", f.queue.prefetch},
                   {"in_order", f.queue.in_order},
                   {"load_contention", f.queue.load_contention},
                   {"compute_contention", f.queue.compute_contention},
                   {"contention_assumed", c.contention_assumed}};
  out["limited_by"] = f.limited_by;
  if (f.no_epoch.empty()) {
    out["full_steps"] = f.steps.full;
    out["partial_samples"] = f.steps.partial_samples;
    if (c.one_off_known) out["one_off_seconds"] = c.one_off;
    out["segments"] = list(f.segments, [](const Segment& one) {
      return Json{{"segment", to_string(one.kind)},
                  {"count", one.count},
                  {"mean_seconds", one.mean},
                  {"seconds", json_of(one.seconds)}};
    });
    out["models"] = list(f.models, [](const ModelPrediction& one) { return json_of(one); });
    if (f.experience.epochs > 0) {
      out["experience"] = {{"epochs", f.experience.epochs}, {"seconds", json_of(f.experience.seconds)}};
      if (f.experience.held) out["experience"]["inside"] = *f.experience.held;
    }
    out["bounds"] = list(f.bounds, [](const EpochBound& one) {
      return Json{{"resource", one.resource}, {"seconds", one.seconds}, {"text", one.text}};
    });
    out["what_if"] = list(f.what_if, [](const WhatIf& one) {
      return Json{{"change", one.change},       {"seconds", one.seconds},   {"saved_seconds", one.saved},
                  {"least_seconds", one.least}, {"most_seconds", one.most}, {"given", one.given}};
    });
    out["left_out"] = f.left_out;
  } else {
    out["no_epoch"] = f.no_epoch;
  }
  out["scores"] = list(f.scores, [](const Score& one) { return json_of(one); });
  return json_text(out);
}

}  // namespace assay
