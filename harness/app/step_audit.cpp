#include "app/step_audit.hpp"

#include "assay/compare.hpp"
#include "assay/error.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <regex>
#include <span>
#include <utility>

namespace assay {
namespace {

constexpr const char* usual_present = "/torch/";  // as ci/plugin/frameworks.py names its variants
constexpr const char* by_trace = "the trace";
constexpr double busy = 0.1;
constexpr const char *audit_form = "assay.step_audit/1", *step_form = "assay.traced_step/1";

void add(Interval& sum, const Interval& one) {
  sum.low += one.low;
  sum.middle += one.middle;
  sum.high += one.high;
  sum.coverage = std::min(sum.coverage, one.coverage);
}

/// The fastest of the kernels in use, or of the others: one in use is no replacement for itself.
StepKernels fastest(const StepPart& part, const Results& results, const std::regex& keys, bool in_use) {
  StepKernels out;
  for (const OperatorCase& one : part.cases) {
    const TrialResult* best = nullptr;
    for (const TrialResult& trial : results.trials) {
      if (trial.operation != one.operation || trial.problem != one.problem || !is_measured(trial)) continue;
      const bool is_faster = best == nullptr || time_of(trial).middle < time_of(*best).middle;
      if (is_faster && std::regex_search(trial.key, keys) == in_use) best = &trial;
    }
    if (best == nullptr) return {};
    add(out.seconds, time_of(*best));
    out.names += fmt::format("{}{}/{}#{}", out.names.empty() ? "" : " + ", best->operation, best->variant,
                             best->threads);
    out.threaded = out.threaded || best->threads > 1;
  }
  return out;
}

/// The cases of a call are judged together: the trace does not say how long each of them took.
StepAuditRow row_of(const StepPart& part, const StepKernels& in_use, const StepKernels& others) {
  const double traced = part.call_seconds;
  StepAuditRow out{.part = part, .present = {{traced, traced, traced}, by_trace}, .best = others};
  out.present_was_measured = in_use.seconds.middle > 0;
  if (out.present_was_measured && in_use.seconds.middle < traced) out.present = in_use;
  if (!out.is_measured()) return out;
  const auto saved = [&](double before, double after) {
    return std::clamp(part.per_step * (before - after), 0.0, part.seconds);
  };
  const Interval &before = out.present.seconds, &after = out.best.seconds;
  out.saved = {.low = saved(before.low, after.high),
               .middle = saved(before.middle, after.middle),
               .high = saved(before.high, after.low),
               .coverage = after.coverage};
  return out;
}

std::string share_text(const TracedStep& step, StepShare share) {
  return percent_text(step.seconds_of(share) / step.seconds);
}

/// "loading is 62 %", or the largest part beside the cases.
std::string rest_text(const TracedStep& step) {
  constexpr std::array<std::pair<StepShare, const char*>, 5> names{
      {{StepShare::loading, "loading is"},
       {StepShare::not_covered, "other operators are"},
       {StepShare::python, "Python is"},
       {StepShare::autograd, "autograd is"},
       {StepShare::rest, "the rest is"}}};
  const auto largest =
      std::ranges::max_element(names, {}, [&](const auto& one) { return step.seconds_of(one.first); });
  return fmt::format("{} {}", largest->second, share_text(step, largest->first));
}

/// Names what takes the time that no case covers, and what was assumed.
void add_rest(doc::Document& page, const TracedStep& step) {
  constexpr std::size_t most_rows = 20;
  doc::Table out{.tag = "rest",
                 .columns = doc::columns("!part; !share = of the step [share]; !seconds = a step [s]; calls"),
                 .most = most_rows};
  for (const StepPart& part : step.parts) {
    if (part.share == StepShare::covered) continue;
    out.rows.push_back({doc::code(part.name), doc::share(part.seconds / step.seconds),
                        doc::seconds(part.seconds),
                        part.per_step > 0 ? doc::Text(doc::count(part.per_step)) : ""});
  }
  std::ranges::stable_sort(out.rows, std::greater{},
                           [](const auto& row) { return row[2].number()->number(); });
  page.sections.push_back({.title = "Not covered", .blocks = {std::move(out)}});
  if (!step.notes.empty())
    page.sections.push_back({.title = "Notes", .blocks = {doc::list_of(step.notes, "notes")}});
}

/// The step, one part below the other; `saved` are seconds of a case that a step saves.
doc::Picture step_picture(const TracedStep& step, const std::map<std::string, double>& saved) {
  constexpr std::size_t most_bars = 24;
  std::vector<const StepPart*> parts;
  for (const StepPart& part : step.parts) parts.push_back(&part);
  std::ranges::stable_sort(parts, std::greater{}, &StepPart::seconds);
  const std::size_t more = parts.size() - std::min(parts.size(), most_bars);
  std::vector<PlottedBar> bars;
  double at = 0;
  for (const StepPart* part : std::span(parts).first(parts.size() - more)) {
    const bool covered = part->share == StepShare::covered;
    const std::string name = covered ? part->text : part->name;
    const auto found = saved.find(name);
    const double gain = found == saved.end() ? 0 : found->second, kept = at + part->seconds - gain;
    bars.push_back(
        {name,
         {{seconds_text(part->seconds), at, kept, covered ? Look::first : Look::equal},
          {fmt::format("of which {} could be saved", seconds_text(gain)), kept, kept + gain, Look::better}}});
    at = kept + gain;
  }
  return {.name = "step",
          .plot = bars_plot("A step by its parts, the longest first", "seconds of a step", bars, more)};
}

doc::Document about(const TracedStep& step, std::string title) {
  doc::Document out{.title = std::move(title)};
  out.outcome = fmt::format(
      "{} of {}, {} each: cases of contracts {}, other operators {}, loading {}, autograd {}, Python {}, "
      "rest {}",
      quantity_text(step.steps, "step"), step.source, seconds_text(step.seconds),
      share_text(step, StepShare::covered), share_text(step, StepShare::not_covered),
      share_text(step, StepShare::loading), share_text(step, StepShare::autograd),
      share_text(step, StepShare::python), share_text(step, StepShare::rest));
  return out;
}

}  // namespace

StepAudit audited(TracedStep step, const Results& results, const Registry& registry,
                  const std::string& present) {
  StepAudit out{.step = std::move(step)};
  const std::regex keys(present.empty() ? usual_present : present);
  Index measured = 0, matched = 0, by_run = 0, in_use = 0;
  Interval saved{.coverage = 1};
  for (StepPart& part : out.step.parts) {
    if (part.share != StepShare::covered) continue;
    for (OperatorCase& one : part.cases)
      one.problem = registry.at(one.operation).canonical(out.step.source, one.problem);
    const StepAuditRow& row = out.rows.emplace_back(
        row_of(part, fastest(part, results, keys, true), fastest(part, results, keys, false)));
    in_use += row.present_was_measured ? 1 : 0;
    if (!row.is_measured()) continue;
    measured += 1;
    matched += row.present_was_measured ? 1 : 0;
    by_run += row.present.names != by_trace ? 1 : 0;
    add(saved, row.saved);
  }
  if (measured == 0) {
    const std::string of_suite = "results of suite " + results.suite;
    if (in_use > 0)
      throw Error(of_suite, "hold only kernels that are in use now, for the cases of " + out.step.source,
                  "run others, too: `assay run --suite`, or name in --present what is in use");
    throw Error(out.step.source, "has no case that was measured in " + of_suite,
                "make a suite of the trace with `assay suite`, and run that");
  }
  if (!present.empty() && 2 * matched <= measured) {
    throw Error("--present",
                fmt::format("\"{}\" is in {} of {} cases that were measured", present, matched, measured),
                "name what is in use in most of them, or leave it out: times of the trace are taken then");
  }
  const double whole = out.step.seconds;
  out.gain = {.low = whole / (whole - saved.low),
              .middle = whole / (whole - saved.middle),
              .high = whole / (whole - saved.high),
              .coverage = saved.coverage};
  out.most = whole / std::max(whole - out.step.seconds_of(StepShare::covered), 1e-3 * whole);
  std::ranges::stable_sort(out.rows, std::greater{},
                           [](const StepAuditRow& row) { return row.saved.middle; });
  const auto risk_if = [&](bool is_one, const std::string& text) {
    if (is_one) out.risks.push_back(text);
  };
  const auto cases = std::ssize(out.rows);
  risk_if(measured < cases, fmt::format("{} of {} cases were not measured", cases - measured, cases));
  risk_if(by_run < measured,
          fmt::format(
              "{} of {} gains are over times in the trace, which other work and the profiler made longer: "
              "measure PyTorch's own kernels in the same run (ci/plugin/frameworks.py)",
              measured - by_run, measured));
  const auto threaded =
      std::ranges::count_if(out.rows, [](const StepAuditRow& row) { return row.best.threaded; });
  risk_if(threaded > 0,
          fmt::format("{} of {} gains take several threads, which the job may not have: `assay run "
                      "--threads 1`, if it has one",
                      threaded, measured));
  const Weather& weather = results.weather;
  risk_if(
      weather.other_busy_share + weather.steal_share > busy,
      fmt::format("other processes used {} of the processors while kernels were timed, and the host took {}",
                  percent_text(weather.other_busy_share), percent_text(weather.steal_share)));
  risk_if(results.partial, "the results are partial: their run was interrupted");
  return out;
}

Json step_audit_schema() {
  return doc::schema_of(
      {.schema = audit_form, .optional_lists = {"notes", "risks"}, .tables = {"cases", "rest"}});
}

Json traced_step_schema() {
  return doc::schema_of({.schema = step_form, .optional_lists = {"notes"}, .tables = {"cases", "rest"}});
}

doc::Document document_of(const StepAudit& audit) {
  doc::Document out = about(audit.step, "Audit of the step in " + audit.step.source);
  out.schema = audit_form;
  const auto ahead = std::ranges::count_if(audit.rows, &StepAuditRow::is_ahead);
  out.kicker = std::move(out.outcome);
  out.outcome = fmt::format(
      "AUDITED: with the fastest kernels a step is {} as fast; at most {:.2f}x, were its cases nothing; {}",
      speedup_text(audit.gain), audit.most, rest_text(audit.step));
  doc::Table cases{
      .tag = "cases",
      .columns = doc::columns("<!case; calls; !share = of the step [share]; present = in use [s]; by; "
                              "best [s]; <variant; !saved = a step saves [s]")};
  std::map<std::string, double> saved;
  for (const StepAuditRow& row : audit.rows) {
    saved[row.part.text] = row.saved.middle;
    cases.rows.push_back({doc::code(row.part.text), doc::count(row.part.per_step),
                          doc::share(row.part.seconds / audit.step.seconds),
                          doc::seconds(row.present.seconds), row.present.names,
                          row.is_measured() ? doc::Text(doc::seconds(row.best.seconds)) : "not measured",
                          doc::code(row.best.names),
                          row.is_ahead()      ? doc::Text("nothing: what is in use is faster")
                          : row.is_measured() ? doc::Text(doc::seconds(row.saved))
                                              : ""});
  }
  out.sections = {{.title = "Cases",
                   .blocks = {step_picture(audit.step, saved), std::move(cases),
                              fmt::format("In {} of {} nothing is faster than what is in use.", ahead,
                                          quantity_text(std::ssize(audit.rows), "case"))}}};
  add_rest(out, audit.step);
  if (!audit.risks.empty())
    out.sections.push_back({.title = "Risks", .blocks = {doc::list_of(audit.risks, "risks")}});
  return out;
}

doc::Document document_of(const TracedStep& step) {
  doc::Document out = about(step, "The step in " + step.source);
  out.schema = step_form;
  doc::Table cases{
      .tag = "cases",
      .columns = doc::columns("<!case; operator; calls; !share = of the step [share]; call = a call [s]")};
  for (const StepPart& part : step.parts) {
    if (part.share != StepShare::covered) continue;
    cases.rows.push_back({doc::code(part.text), doc::code(part.name), doc::count(part.per_step),
                          doc::share(part.seconds / step.seconds), doc::seconds(part.call_seconds)});
  }
  out.sections = {{.title = "Cases", .blocks = {step_picture(step, {}), std::move(cases)}}};
  add_rest(out, step);
  return out;
}

}  // namespace assay
