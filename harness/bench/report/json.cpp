#include "assay/measure.hpp"
#include "bench/compare/fields.hpp"
#include "bench/report/content.hpp"
#include "core/json/fields.hpp"
#include "core/machine/fields.hpp"

#include <cmath>

namespace assay {
namespace {

constexpr Fields::Rule null_if_none{.null = true};
/// Fields absent where "impossible" is set.
constexpr Fields::Rule if_possible{.optional = true};

/// Writes null where the value is not known.
std::optional<double> known_if(bool known, double value) {
  return known ? std::optional(value) : std::nullopt;
}

}  // namespace

// Beside the types, where argument-dependent lookup finds them.
void describe(Fields& f, Summary& summary) {
  f.derived("word", std::string(to_string(summary.outcome.word)));
  f("sentence", summary.outcome.sentence);
  f("trials", summary.trials);
  f("measured", summary.measured);
  f("fewest_launches", summary.fewest_launches);
  f("most_launches", summary.most_launches);
  f.keyed("counts", summary.counts, &Summary::Count::state, &Summary::Count::trials);
  f("visible_in_half", summary.visible_in_half);
  f("visible_in_most", summary.visible_in_most);
}

void describe(Fields& f, TrustRow& row) {
  f("variant", row.variant, {.about = "operation/variant"});
  f("slices", row.audit.slices, {.about = "timed"});
  f("judged", row.audit.judged, {.about = "of them, after their calls"});
  f("compared", row.audit.compared, {.about = "elements of outputs in the slices that were judged"});
  std::vector<Calls> calls = row.calls.value_or(std::vector<Calls>());
  if (!f.writes() || row.calls) {
    f.keyed("calls", calls, &Calls::to, &Calls::names,
            {.optional = true,
             .about = "beyond run-times: threads, system, and libraries; not known where missing"});
  }
}

void describe(Fields& f, AgreementRow& row) {
  f("operation", row.operation);
  f("variants", row.variants);
  f("cases", row.cases);
  f("trials", row.trials);
  f("disagreeing", row.disagreeing);
  f("worst_error_in_bounds", row.worst_error);
  f("compared", row.compared);
  f("total", row.total);
}

void describe(Fields& f, Disagreement& one) {
  f("key", one.key);
  f("detail", one.detail);
}

void describe(Fields& f, FigureRow& row) {
  f("case", row.problem_case);
  f("figure", row.figure);
  f("trials", row.trials, {.about = "variant#threads"});
}

void describe(Fields& f, ImpossibleTime& one) {
  f("key", one.key);
  f("why", one.why);
}

void describe(Fields& f, TimeRow& row) {
  const bool has_seconds = row.seconds.middle > 0;
  TrialResult& trial = row.trial;
  std::string problem_case = case_of(trial);
  std::size_t launches = sampled_launches(trial), slices = slices_of(trial);
  f("key", trial.key);
  f("case", problem_case);
  f("note", trial.note);
  f("variant", trial.variant);
  f("threads", trial.threads);
  f.derived("seconds", has_seconds ? std::optional(row.seconds) : std::nullopt, null_if_none);
  f("launches", launches);
  f("slices", slices);
  f("speedup", row.speedup, null_if_none);
  f.derived("flops_per_second", known_if(has_seconds, row.flops_per_second), null_if_none);
  f.derived("bytes_per_second", known_if(has_seconds, row.bytes_per_second), null_if_none);
  f.derived("share_of_roof", known_if(row.share_of_roof > 0, row.share_of_roof), null_if_none);
  f("roof_not_believed", row.roof_not_believed);
  if (f.tells()) {
    for (const Figure& figure : measured_figures()) trial.figures[figure.tag] = 0;
  }
  for (auto& [tag, value] : trial.figures) f(tag, value, {.optional = true});
  f("repaid_after", row.repaid_after,
    {.about = "calls, beside naive, that repay its preparation; 0: never, or naive has no time"});
  if (f.tells() || trial.picked) {
    Picked picked = trial.picked.value_or(Picked());
    f("picked", picked.variant, {.optional = true, .about = "the variant that did the work"});
    f("picked_because", picked.reason, {.terse = true});
  }
  f("remark", trial.remark);
  std::vector<std::vector<double>> samples = samples_of(row);
  f("samples", samples,
    {.terse = true, .seven_digits = true, .about = "seconds per call of slices by launch, in run order"});
}

void describe(Fields& f, LadderStep& one) {
  f("operation", one.operation);
  f("step", one.step);
  f("after", one.after);
  f("threads", one.threads);
  std::size_t cases = one.ratios.size();
  f("cases", cases);
  f("mean", one.mean, {.about = "geometric, of times before / times after"});
  f("in_all", one.in_all, {.about = "the same, of naive"});
  if (f.tells()) one.ratios.emplace_back();
  f("worst", one.ratios.front().ratio);
  f("worst_problem", one.ratios.front().problem);
  f("best", one.ratios.back().ratio);
  f("best_problem", one.ratios.back().problem);
}

void describe(Fields& f, BreakEvenSize& one) {
  f("extents", one.extents);
  f("bytes", one.bytes, {.about = "of a call"});
  f("ratio", one.ratio, {.about = "time of the rival / time of the variant"});
}

void describe(Fields& f, BreakEven& row) {
  const bool found = !row.from.empty();
  f("operation", row.operation);
  f("kind", row.kind);
  f("trial", row.trial);
  f("rival", row.rival);
  std::size_t sizes = row.points.size();
  f("sizes", sizes);
  f.derived("from", found ? std::optional(row.from) : std::nullopt, null_if_none);
  f.derived("from_bytes", known_if(found, row.from_bytes), null_if_none);
  f("slower", row.slower);
  f("undecided", row.undecided);
  f("points", row.points, {.terse = true, .about = "all sizes, by the bytes of a call"});
}

void describe(Fields& f, CaseRatio& one) {
  f("problem", one.problem);
  f("ours", one.ours);
  f("peer", one.peer);
  f("ratio", one.ratio, {.about = "time of the library / time of ours"});
}

void describe(Fields& f, PeerRow& row) {
  f("operation", row.operation);
  f("threads", row.threads);
  f("libraries", row.libraries);
  f("geometric_mean", row.mean);
  f("ratios", row.ratios, {.about = "one per case, the worst first"});
}

void describe(Fields& f, Contribution& part) {
  f("key", part.key);
  f("note", part.note);
  f("per_step", part.per_step);
  f("seconds", part.seconds);
  f("seconds_per_step", part.seconds_per_step);
  f("share_percent", part.share);
}

void describe(Fields& f, Prediction& prediction) {
  f("label", prediction.label);
  f("impossible", prediction.impossible, {.terse = true, .about = "why there is none"});
  if (f.writes() && !prediction.impossible.empty()) return;
  f("seconds", prediction.seconds, if_possible);
  f("steps_per_epoch", prediction.steps_per_epoch, if_possible);
  f.derived("interval_from", std::string(to_string(prediction.source)));
  f("launches", prediction.launches, if_possible);
  f("contributions", prediction.contributions, if_possible);
  f("left_out", prediction.left_out, if_possible);
}

void describe(Fields& f, OperationEffect& one) {
  f("operation", one.operation);
  f("share_percent", one.share);
  f("speedup", one.speedup);
  f("epoch_speedup", one.epoch);
  f.derived("limit", known_if(!std::isinf(one.limit), one.limit), null_if_none);
  f("share_left_percent", one.share_left);
  f.derived("limit_left", known_if(!std::isinf(one.limit_left), one.limit_left), null_if_none);
}

void describe(Fields& f, Composition& composition) {
  f("impossible", composition.impossible, {.terse = true, .about = "why there is none"});
  if (f.writes() && !composition.impossible.empty()) return;
  f("together", composition.together, if_possible);
  f("operations", composition.effects, if_possible);
}

void describe(Fields& f, Report& report) {
  Results& results = report.results;
  f.schema("assay.report/1");
  f("suite", results.suite);
  f("about", results.about);
  f("date", results.date);
  f("commit", results.commit);
  f("seed", results.seed);
  f("outcome", report.summary);
  f("machine", results.machine);
  f("roofs", results.roofs);
  f("roofs_not_believed", report.roofs_not_believed);
  f("weather", results.weather);
  f("agreement", report.agreement);
  f("disagreements", report.disagreements);
  f("figures", report.figures, {.terse = true, .about = "of outputs, besides their times"});
  f("trust", report.trust);
  f.derived("withheld", results.mixed_machines.empty() ? std::nullopt : std::optional(results.mixed_machines),
            null_if_none);
  f("measured", results.figures, {.terse = true, .about = "the figures of times, without values"});
  f("times", report.times);
  f("impossible", report.impossible, {.terse = true, .about = "times that no kernel can reach"});
  f("peers", report.peers, {.optional = true, .about = "libraries that were measured beside ours"});
  f("ladder", report.ladder, {.optional = true, .about = "what each idea gained over the one before"});
  f("break_even", report.break_even);
  f("baseline", report.baseline);
  f("comparison", report.comparison, null_if_none);
  f("predictions", report.predictions);
  f("composition", report.composition);
  f("not_covered", report.not_covered);
  f("reproduce", report.reproduce);
}

std::string to_json(const Report& report) { return json_text(to_value(report)) + "\n"; }

}  // namespace assay
