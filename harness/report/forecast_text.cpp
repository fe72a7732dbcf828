#include "figures/figures.hpp"
#include "report/forecast_report.hpp"
#include "report/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

constexpr std::size_t widest = 80;

/// `text` behind a label of a fixed width, the lines after the first below the text.
std::string labelled(std::string_view label, const std::string& text) {
  constexpr std::size_t column = 12;
  const std::string indent(column, ' ');
  std::string out(label);
  out.resize(std::max(column, out.size() + 1), ' ');
  return wrapped(out + text, indent, widest);
}

std::string item(const std::string& text) { return wrapped("  " + text, "      ", widest); }

/// Cells of one row, the first to the left and the others to the right.
std::string cells(std::initializer_list<std::pair<std::string, std::size_t>> row) {
  std::string out = " ";
  bool first = true;
  for (const auto& [text, width] : row) {
    const std::size_t shown = display_width(text);
    const std::string padding(width > shown ? width - shown : 0, ' ');
    out += " " + (first ? text + padding : padding + text);
    first = false;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out + "\n";
}

std::string interval_text(const Interval& seconds) {
  const std::string both = seconds_text(seconds);
  const std::size_t bracket = both.find(" [");
  return seconds.low < seconds.high ? both.substr(bracket + 1) : "none";
}

std::string middle_text(const Interval& seconds) { return seconds_text(seconds.middle); }

std::string loader_text(const Forecast& f) {
  const LoaderSetup& loader = f.job.loader;
  if (!loader.workers) return "workers not stated";
  if (*loader.workers == 0) return "no workers, each batch is loaded in its step";
  std::string out = fmt::format("{} workers, prefetch {}{}, {}", *loader.workers, loader.prefetch,
                                loader.prefetch_stated ? "" : " (PyTorch's default)",
                                loader.in_order ? "in order" : "out of order");
  if (f.queue.load_contention != 1 || f.queue.compute_contention != 1) {
    out += fmt::format("; contention {:.2f} of loading, {:.2f} of the rest, {}", f.queue.load_contention,
                       f.queue.compute_contention,
                       f.calibration.contention_assumed ? "fitted to the windows" : "as stated");
  }
  return out;
}

std::string steps_text(const Forecast& f) {
  const Dataset& d = f.job.dataset;
  std::string out = fmt::format("{} steps of {}", count_text(f.steps.full), count_text(d.batch));
  if (f.steps.partial_samples > 0) {
    out += fmt::format(" and one of {} samples", count_text(f.steps.partial_samples));
  } else if (d.train % d.batch != 0) {
    out += fmt::format(", the last {} samples dropped", count_text(d.train % d.batch));
  }
  return out;
}

std::string windows_text(const Forecast& f) {
  std::string out;
  for (const TimedWindow& window : f.job.windows) {
    if (!out.empty()) out += "; ";
    out += fmt::format("{} steps from {} on, {} each", count_text(window.steps), window.first_step,
                       seconds_text(window.mean()));
    if (window.cache != PageCache::unknown) out += fmt::format(", {} cache", to_string(window.cache));
  }
  return out.empty() ? "no window" : out;
}

std::string findings_text(const std::vector<LintFinding>& findings) {
  if (findings.empty()) return labelled("lint", "no figure contradicts another");
  const auto wrong = std::ranges::count(findings, true, &LintFinding::contradiction);
  std::string out = labelled("lint", fmt::format("{} contradictions, {} remarks", wrong,
                                                 static_cast<std::ptrdiff_t>(findings.size()) - wrong));
  for (const LintFinding& finding : findings) {
    out += item(fmt::format("{} {}: {}: {}", finding.contradiction ? "WRONG" : "remark",
                            to_string(finding.rule), finding.field, finding.text));
  }
  return out;
}

std::string models_text(const Forecast& f) {
  std::string out = cells({{"model", 22}, {"epoch", 12}, {"90 % interval", 20}, {"per step", 12}});
  for (const ModelPrediction& one : f.models) {
    const std::string name = fmt::format("{} {}", name_of(one.model), idea_of(one.model));
    if (!one.impossible.empty()) {
      out += item(fmt::format("{}: {}", name, one.impossible));
      continue;
    }
    out += cells({{name, 22},
                  {middle_text(one.seconds), 12},
                  {interval_text(one.seconds), 20},
                  {seconds_text(one.period), 12}});
  }
  // Models of one kind lack an interval for one reason.
  std::string last;
  for (const ModelPrediction& one : f.models) {
    if (one.no_interval.empty() || one.no_interval == last) continue;
    last = one.no_interval;
    out += item(fmt::format(
        "{}: {}{}", name_of(one.model),
        one.seconds.low < one.seconds.high ? "not an interval of 90 %: " : "no interval: ", one.no_interval));
  }
  return out;
}

std::string parts_text(const Forecast& f) {
  std::string out;
  for (const StepPart& part : f.calibration.parts) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", part.name, seconds_text(part.mean));
  }
  for (const BesideStep& part : f.calibration.beside) {
    out += fmt::format("; beside it {} {}", part.name, seconds_text(part.mean));
  }
  return out.empty() ? "" : labelled("step", out);
}

std::string what_if_text(const Forecast& f) {
  if (f.what_if.empty()) return "";
  std::string out = cells({{"what if", 30}, {"epoch", 12}, {"change", 14}});
  std::vector<std::string> given;
  for (const WhatIf& one : f.what_if) {
    const bool same = std::abs(one.saved) < 0.0005 * one.seconds;
    const std::string words =
        same ? "none"
             : fmt::format("{} {}", seconds_text(std::abs(one.saved)), one.saved > 0 ? "less" : "more");
    std::string name = one.change;
    if (!one.given.empty()) {
      auto at = std::ranges::find(given, one.given);
      if (at == given.end()) at = given.insert(given.end(), one.given);
      name += fmt::format(" ({})", at - given.begin() + 1);
    }
    out += cells({{name, 30}, {seconds_text(one.seconds), 12}, {words, 14}});
    if (one.least < one.most) {
      out += fmt::format("      {} to {}\n", seconds_text(one.least), seconds_text(one.most));
    }
  }
  for (std::size_t i = 0; i < given.size(); ++i)
    out += item(fmt::format("({}) given that {}", i + 1, given[i]));
  return out;
}

std::string score_text(const Score& score) {
  std::string out = labelled("measured", fmt::format("{}: {}", score.measured, seconds_text(score.seconds)));
  if (!score.drift.empty()) out += item("DRIFT " + score.drift);
  for (const ModelError& one : score.models) {
    const std::string inside = !one.inside   ? ""
                               : *one.inside ? "inside its interval"
                                             : "outside its interval";
    out += cells({{fmt::format("{} {}", name_of(one.model), idea_of(one.model)), 22},
                  {seconds_text(one.predicted), 12},
                  {error_text(one.error), 18},
                  {inside, 21}});
  }
  for (const PhaseError& one : score.phases) {
    out += cells({{one.name, 22},
                  {seconds_text(one.predicted), 12},
                  {error_text(one.error), 18},
                  {seconds_text(one.measured) + " per step", 21}});
  }
  return out;
}

}  // namespace

std::string error_text(double error) {
  if (std::abs(error) < 0.0005) return "exact to 0.05 %";
  return fmt::format("{:.1f} % too {}", 100 * std::abs(error), error > 0 ? "long" : "short");
}

std::string outcome_text(const Forecast& f) {
  if (!f.no_epoch.empty()) return fmt::format("NO EPOCH: {}", f.no_epoch);
  const ModelPrediction* best = most_elaborate(f.models);
  if (best == nullptr) return "NO PREDICTION: no model has what it needs";
  const std::string doubts = f.calibration.flagged(Doubt::drift) ? ", while the steps were drifting" : "";
  const bool ranged = best->seconds.low < best->seconds.high;
  return fmt::format("PREDICTED: {} per epoch by {}{}",
                     ranged ? seconds_text(best->seconds) : seconds_text(best->seconds.middle),
                     name_of(best->model), doubts);
}

std::string to_text(const Forecast& f) {
  const Job& job = f.job;
  std::string out =
      labelled("job", job.hardware.empty() ? job.name : fmt::format("{}, {}", job.name, job.hardware));
  out += labelled("from", fmt::format("{}: {}", job.source, windows_text(f)));
  for (const std::string& note : job.notes) out += labelled("", note);
  out += findings_text(f.findings);
  for (const Flag& flag : f.calibration.flags) {
    out += labelled("doubt", fmt::format("{}: {}", to_string(flag.doubt), flag.text));
  }
  out += labelled("loader", loader_text(f));
  out += parts_text(f);
  out += labelled("limited by", f.limited_by);
  if (f.no_epoch.empty()) {
    out += labelled("epoch", steps_text(f));
    const Calibration& c = f.calibration;
    out +=
        labelled("start-up", c.one_off_known ? fmt::format("{}, {}", seconds_text(c.one_off), c.one_off_from)
                                             : fmt::format("not known: {}", c.one_off_from));
    out += models_text(f);
    for (const EpochBound& bound : f.bounds) {
      out += labelled("at least",
                      fmt::format("{}: {}, {}", seconds_text(bound.seconds), bound.resource, bound.text));
    }
    out += what_if_text(f);
    for (const std::string& line : f.left_out) out += labelled("left out", line);
  }
  for (const Score& score : f.scores) out += score_text(score);
  return out + wrapped(outcome_text(f), "  ", widest);
}

}  // namespace assay
