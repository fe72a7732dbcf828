// What Markdown says of a forecast beyond its JSON: figures and words, added to the values that programs get.
#include "core/markup/template.hpp"
#include "core/text/figures.hpp"
#include "training/report/forecast_report.hpp"

#include <fmt/format.h>

#include <utility>

namespace assay {
namespace {

Json step_rows(const Forecast& f) {
  Json out = Json::array();
  const auto add = [&](const std::string& name, std::string_view kind, double mean) {
    out.push_back(Json{{"name", name}, {"kind", kind}, {"mean", seconds_text(mean)}});
  };
  for (const StepPart& part : f.calibration.parts) add(part.name, to_string(part.kind), part.mean);
  for (const BesideStep& part : f.calibration.beside) add(part.name, "beside the step", part.mean);
  return out;
}

Json model_rows(const Forecast& f) {
  Json out = Json::array();
  for (const ModelPrediction& one : f.models) {
    const bool possible = one.impossible.empty();
    out.push_back(Json{{"model", name_of(one.model)},
                       {"idea", idea_of(one.model)},
                       {"epoch", possible ? fine_seconds_text(one.seconds) : ""},
                       {"per_step", possible ? seconds_text(one.period) : ""},
                       {"remark", possible ? one.no_interval : one.impossible}});
  }
  return out;
}

/// Lines on what goes on beside the steps, what earlier epochs say, and what no change can beat.
std::vector<std::string> facts_of(const Forecast& f) {
  std::vector<std::string> out;
  for (const Segment& segment : f.segments) {
    out.push_back(fmt::format("beside the steps: {}, {}", to_string(segment.kind), segment_text(segment)));
  }
  if (const std::string text = experience_text(f.experience); !text.empty())
    out.push_back("experience: " + text);
  for (const EpochBound& bound : f.bounds) {
    out.push_back(
        fmt::format("at least {}: {}, {}", seconds_text(bound.seconds), bound.resource, bound.text));
  }
  return out;
}

Json change_rows(const Forecast& f) {
  Json out = Json::array();
  for (const WhatIf& one : f.what_if) {
    const std::string range =
        one.least < one.most ? fmt::format(" ({} to {})", seconds_text(one.least), seconds_text(one.most))
                             : "";
    out.push_back(
        Json{{"change", one.change}, {"epoch", seconds_text(one.seconds) + range}, {"given", one.given}});
  }
  return out;
}

Json score_rows(const Score& score) {
  Json out = Json::array();
  for (const ModelError& model : score.models) {
    out.push_back(Json{{"name", fmt::format("{} {}", name_of(model.model), idea_of(model.model))},
                       {"predicted", seconds_text(model.predicted)},
                       {"error", error_text(model.error)},
                       {"inside", !model.inside   ? ""
                                  : *model.inside ? "yes"
                                                  : "no"}});
  }
  for (const PhaseError& phase : score.phases) {
    out.push_back(
        Json{{"name", phase.per == "step" ? phase.name : fmt::format("{}, per {}", phase.name, phase.per)},
             {"predicted", seconds_text(phase.predicted)},
             {"error", error_text(phase.error)},
             {"inside", ""}});
  }
  return out;
}

}  // namespace

std::string to_markdown(const Forecast& f) {
  Json out = to_value(f, "");
  out["outcome"] = outcome_text(f);
  out["step"] = step_rows(f);
  out["no_epoch"] = f.no_epoch;
  if (f.no_epoch.empty()) {
    out["models"] = model_rows(f);
    out["facts"] = facts_of(f);
    out["changes"] = change_rows(f);
  }
  for (std::size_t i = 0; i < f.scores.size(); ++i) {
    out["scores"][i]["seconds_text"] = seconds_text(f.scores[i].seconds);
    out["scores"][i]["rows"] = score_rows(f.scores[i]);
  }
  return document("epoch.md", out);
}

}  // namespace assay
