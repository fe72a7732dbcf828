#include "core/text/figures.hpp"
#include "core/text/wrapped.hpp"
#include "training/report/forecast_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr std::size_t widest = 80;

/// `text` behind a label of a fixed width, the lines after the first below the text.
std::string labelled(std::string_view label, const std::string& text) {
  constexpr std::size_t column = 12;
  const std::string indent(column, ' ');
  std::string out(label);
  out.resize(column, ' ');
  return wrapped(out + text, widest, indent) + "\n";
}

/// `1 step`, `2 steps`.
std::string counted(Index count, std::string_view thing) {
  return fmt::format("{} {}{}", count_text(count), thing, count == 1 ? "" : "s");
}

std::string item(const std::string& text) { return wrapped("  " + text, widest, "      ") + "\n"; }

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

std::string cache_text(PageCache cache) {
  return cache == PageCache::unknown ? "" : fmt::format(", {} cache", to_string(cache));
}

/// A dozen windows one by one are no help to anybody.
std::string windows_together(const std::vector<TimedWindow>& windows) {
  std::string out;
  for (const PageCache cache : {PageCache::warm, PageCache::cold, PageCache::unknown}) {
    std::vector<Index> steps;
    std::vector<double> means;
    for (const TimedWindow& window : windows) {
      if (window.cache != cache) continue;
      steps.push_back(window.steps);
      means.push_back(window.mean());
    }
    if (steps.empty()) continue;
    const auto [fewest, most] = std::ranges::minmax(steps);
    const auto [fastest, slowest] = std::ranges::minmax(means);
    out += fmt::format("{}{} of {}, {} to {} each{}", out.empty() ? "" : "; ",
                       counted(std::ssize(steps), "window"),
                       fewest == most ? counted(most, "step") : fmt::format("{} to {} steps", fewest, most),
                       seconds_text(fastest), seconds_text(slowest), cache_text(cache));
  }
  return out;
}

std::string windows_text(const Forecast& f) {
  constexpr std::size_t told_apart = 4;
  if (f.job.windows.size() > told_apart) return windows_together(f.job.windows);
  std::string out;
  for (const TimedWindow& window : f.job.windows) {
    if (!out.empty()) out += "; ";
    out += fmt::format("{} from step {} on, {} each{}", counted(window.steps, "step"), window.first_step,
                       seconds_text(window.mean()), cache_text(window.cache));
  }
  return out.empty() ? "no window" : out;
}

std::string lint_text(const std::vector<LintFinding>& findings) {
  if (findings.empty()) return labelled("lint", "no figure contradicts another");
  const auto wrong = static_cast<Index>(std::ranges::count(findings, true, &LintFinding::contradiction));
  const Index remarks = static_cast<Index>(findings.size()) - wrong;
  std::string out =
      labelled("lint", fmt::format("{}, {}", counted(wrong, "contradiction"), counted(remarks, "remark")));
  for (const LintFinding& finding : findings) out += item(in_words(finding));
  return out;
}

/// Models next to each other often lack one and the same thing: their names, then what it is.
template <typename What>
std::string grouped_items(const std::vector<ModelPrediction>& models, const What& what) {
  std::string out, names, last;
  const auto flush = [&] {
    if (!last.empty()) out += item(fmt::format("{}: {}", names, last));
  };
  for (const ModelPrediction& one : models) {
    const std::string text = what(one);
    if (text != last) {
      flush();
      names.clear();
      last = text;
    }
    if (!names.empty()) names += ", ";
    names += name_of(one.model);
  }
  flush();
  return out;
}

std::string models_text(const Forecast& f) {
  std::string out = cells({{"model", 22}, {"epoch", 12}, {"90 % interval", 20}, {"per step", 12}});
  for (const ModelPrediction& one : f.models) {
    const std::string name = fmt::format("{} {}", name_of(one.model), idea_of(one.model));
    if (!one.impossible.empty()) {
      out += cells({{name, 22}, {"-", 12}});
      continue;
    }
    const auto& [middle, range] = fine_seconds_cells(one.seconds);
    out += cells(
        {{name, 22}, {middle, 12}, {range.empty() ? "none" : range, 20}, {seconds_text(one.period), 12}});
  }
  out += grouped_items(f.models, [](const ModelPrediction& one) { return one.impossible; });
  return out + grouped_items(f.models, [](const ModelPrediction& one) {
           if (one.no_interval.empty()) return std::string();
           const bool ranged = one.seconds.low < one.seconds.high;
           return (ranged ? "not an interval of 90 %: " : "no interval: ") + one.no_interval;
         });
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
                  {fmt::format("{} per {}", seconds_text(one.measured), one.per), 21}});
  }
  return out;
}

}  // namespace

std::string error_text(double error) {
  if (std::abs(error) < 0.0005) return "exact to 0.05 %";
  return fmt::format("{:.1f} % too {}", 100 * std::abs(error), error > 0 ? "long" : "short");
}

std::string segment_text(const Segment& segment) {
  const Interval& all = segment.seconds;
  // A last batch that is smaller counts as its share.
  const double whole = std::floor(segment.count), share = std::floor(100 * (segment.count - whole)) / 100;
  return fmt::format("{}{} x {} = {}", count_text(whole),
                     share > 0 ? fmt::format("{:.2f}", share).substr(1) : "", seconds_text(segment.mean),
                     all.low < all.high ? seconds_text(all) : seconds_text(all.middle));
}

std::string experience_text(const Experience& e) {
  if (e.epochs == 0) return "";
  const std::string before = counted(static_cast<Index>(e.epochs), "epoch");
  if (e.seconds.coverage <= 0) {
    return fmt::format("{} in the log, which says nothing before there are {}", before, enough_epochs);
  }
  return fmt::format("by {} in the log, nine of ten such epochs lie in {}{}", before,
                     fine_seconds_text(e.seconds),
                     !e.held   ? ""
                     : *e.held ? "; this one did"
                               : "; this one did not");
}

namespace {

std::string weather_of(const Weather& weather) {
  return fmt::format("other processes used {} of the processors meanwhile, and the host took {}",
                     percent_text(weather.other_busy_share), percent_text(weather.steal_share));
}

std::string missed_text(const KnownEpoch& known) {
  const Interval& predicted = known.predicted;
  const bool longer = known.seconds > predicted.high;
  const double end = longer ? predicted.high : predicted.low;
  return fmt::format(
      "MISSED: the epoch took {}, {} {} than the {} that was predicted, {}; {}", seconds_text(known.seconds),
      percent_text(longer ? known.seconds / end - 1 : 1 - known.seconds / end), longer ? "more" : "less",
      longer ? "most" : "least", fine_seconds_text(predicted), weather_of(known.weather));
}

}  // namespace

std::string outcome_text(const Forecast& f) {
  if (!f.no_epoch.empty()) return fmt::format("NO EPOCH: {}", f.no_epoch);
  if (f.known && f.known->missed()) return missed_text(*f.known);
  const ModelPrediction* best = most_elaborate(f.models);
  if (best == nullptr) return "NO PREDICTION: no model has what it needs";
  const std::string doubts = f.calibration.flagged(Doubt::drift) ? ", while the steps were drifting" : "";
  std::string out = fmt::format("PREDICTED: {} per epoch by {}{}", fine_seconds_text(*predicted_epoch(f)),
                                name_of(best->model), doubts);
  if (f.known) out += fmt::format("; it took {}", seconds_text(f.known->seconds));
  return out;
}

std::string to_text(const Forecast& f) { return findings_text(f) + verdict_text(f); }

std::string verdict_text(const Forecast& f) { return wrapped(outcome_text(f), widest, "  ") + "\n"; }

std::string findings_text(const Forecast& f) {
  const Job& job = f.job;
  std::string out =
      labelled("job", job.hardware.empty() ? job.name : fmt::format("{}, {}", job.name, job.hardware));
  out += labelled("from", job.source);
  out += labelled("", windows_text(f));
  for (const std::string& note : job.notes) out += labelled("", note);
  out += lint_text(f.findings);
  for (const Flag& flag : f.calibration.flags) {
    out += labelled("doubt", fmt::format("{}: {}", to_string(flag.doubt), flag.text));
  }
  out += labelled("loader", loader_text(f));
  out += parts_text(f);
  out += labelled("limited by", f.limited_by);
  if (f.no_epoch.empty()) {
    out += labelled("epoch", steps_text(f));
    const Calibration& c = f.calibration;
    if (c.one_off_known) {
      out += labelled("start-up", fmt::format("{}, {}", seconds_text(c.one_off), c.one_off_from));
    }
    for (const Segment& segment : f.segments) out += labelled(to_string(segment.kind), segment_text(segment));
    out += models_text(f);
    if (const std::string text = experience_text(f.experience); !text.empty()) {
      out += labelled("experience", text);
    }
    for (const EpochBound& bound : f.bounds) {
      out += labelled("at least",
                      fmt::format("{}: {}, {}", seconds_text(bound.seconds), bound.resource, bound.text));
    }
    out += what_if_text(f);
    for (const std::string& line : f.left_out) out += labelled("left out", line);
  }
  for (const Score& score : f.scores) out += score_text(score);
  return out;
}

}  // namespace assay
