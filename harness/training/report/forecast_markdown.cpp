#include "core/markup/escaping.hpp"
#include "core/text/figures.hpp"
#include "training/report/forecast_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string bullets(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += "* " + escaped(line) + "\n";
  return out;
}

std::string findings(const Forecast& f) {
  if (f.findings.empty()) return "No figure contradicts another.\n";
  Rows rows;
  for (const LintFinding& one : f.findings) {
    rows.push_back({one.contradiction ? "**wrong**" : "remark", escaped(to_string(one.rule)), code(one.field),
                    escaped(one.text)});
  }
  return markdown_table("llll", {"", "rule", "field", "finding"}, rows) + "\n";
}

std::string models(const Forecast& f) {
  Rows rows;
  for (const ModelPrediction& one : f.models) {
    const std::string name = fmt::format("{} {}", name_of(one.model), idea_of(one.model));
    if (!one.impossible.empty()) {
      rows.push_back({escaped(name), "", "", escaped(one.impossible)});
      continue;
    }
    rows.push_back({escaped(name), escaped(fine_seconds_text(one.seconds)), seconds_text(one.period),
                    escaped(one.no_interval)});
  }
  return markdown_table("lrrl", {"model", "epoch, 90 % interval", "per step", "remark"}, rows) + "\n";
}

std::string parts(const Forecast& f) {
  Rows rows;
  for (const StepPart& part : f.calibration.parts) {
    rows.push_back({escaped(part.name), std::string(to_string(part.kind)), seconds_text(part.mean)});
  }
  for (const BesideStep& part : f.calibration.beside) {
    rows.push_back({escaped(part.name), "beside the step", seconds_text(part.mean)});
  }
  return rows.empty() ? "No phase was measured.\n"
                      : markdown_table("llr", {"phase", "kind", "per step"}, rows) + "\n";
}

std::string what_if_table(const Forecast& f) {
  Rows rows;
  for (const WhatIf& one : f.what_if) {
    const std::string range =
        one.least < one.most ? fmt::format(" ({} to {})", seconds_text(one.least), seconds_text(one.most))
                             : "";
    rows.push_back({escaped(one.change), seconds_text(one.seconds) + range, escaped(one.given)});
  }
  return markdown_table("lrl", {"change", "epoch", "given that"}, rows) + "\n";
}

std::string score(const Score& one) {
  Rows rows;
  for (const ModelError& model : one.models) {
    rows.push_back({fmt::format("{} {}", name_of(model.model), escaped(idea_of(model.model))),
                    seconds_text(model.predicted), error_text(model.error),
                    !model.inside   ? ""
                    : *model.inside ? "yes"
                                    : "no"});
  }
  for (const PhaseError& phase : one.phases) {
    const std::string name =
        phase.per == "step" ? phase.name : fmt::format("{}, per {}", phase.name, phase.per);
    rows.push_back({escaped(name), seconds_text(phase.predicted), error_text(phase.error), ""});
  }
  std::string out = fmt::format("Measured: {}, {}.\n\n", escaped(one.measured), seconds_text(one.seconds));
  if (!one.drift.empty()) out += fmt::format("**Drift**: {}.\n\n", escaped(one.drift));
  return out + markdown_table("lrll", {"model or phase", "predicted", "error", "inside its interval"}, rows) +
         "\n";
}

}  // namespace

std::string to_markdown(const Forecast& f) {
  std::string out = fmt::format("# Epoch of {}\n\n**{}**\n\n", escaped(f.job.name), escaped(outcome_text(f)));
  out += fmt::format("From {}{}.\n\n", code(f.job.source),
                     f.job.hardware.empty() ? "" : fmt::format(", on {}", escaped(f.job.hardware)));
  if (!f.job.notes.empty()) out += bullets(f.job.notes) + "\n";
  out += "## Consistency\n\n" + findings(f) + "\n";
  if (!f.calibration.flags.empty()) {
    out += "## Doubts\n\n";
    for (const Flag& flag : f.calibration.flags) {
      out += fmt::format("* **{}**: {}\n", to_string(flag.doubt), escaped(flag.text));
    }
    out += "\n";
  }
  out += "## A step\n\n" + parts(f) + "\n";
  out += fmt::format("Limited by {}.\n\n", escaped(f.limited_by));
  if (f.no_epoch.empty()) {
    out += "## Models\n\n" + models(f) + "\n";
    for (const Segment& segment : f.segments) {
      out += fmt::format("* beside the steps: {}, {}\n", to_string(segment.kind),
                         escaped(segment_text(segment)));
    }
    if (const std::string text = experience_text(f.experience); !text.empty()) {
      out += fmt::format("* experience: {}\n", escaped(text));
    }
    for (const EpochBound& bound : f.bounds) {
      out += fmt::format("* at least {}: {}, {}\n", seconds_text(bound.seconds), escaped(bound.resource),
                         escaped(bound.text));
    }
    if (!f.what_if.empty()) out += "\n## What if\n\n" + what_if_table(f);
    out += "\n## Left out\n\n" + bullets(f.left_out);
  }
  for (const Score& one : f.scores) out += "\n## Predicted and measured\n\n" + score(one);
  return out;
}

}  // namespace assay
