#include "core/json/json.hpp"
#include "assay/report.hpp"

#include <cmath>

namespace assay {
namespace {

/// A value that is not visible on this machine is null, not -1.
Json known(double value) { return value < 0 ? Json(nullptr) : Json(value); }

Json json_of(const Interval& interval) {
  return {{"low", interval.low},
          {"middle", interval.middle},
          {"high", interval.high},
          {"coverage", interval.coverage}};
}

Json json_of(const Outcome& outcome) {
  Json counts = Json::object();
  for (const auto& count : outcome.counts) counts[count.state] = count.trials;
  return {{"word", outcome.word},
          {"sentence", outcome.sentence},
          {"trials", outcome.trials},
          {"measured", outcome.measured},
          {"fewest_launches", outcome.fewest_launches},
          {"most_launches", outcome.most_launches},
          {"counts", counts},
          {"visible_in_half", outcome.visible_in_half},
          {"visible_in_most", outcome.visible_in_most}};
}

Json json_of(const Report& report, const Machine& machine) {
  Json facts = Json::array();
  for (const Fact& fact : machine.facts) {
    facts.push_back({{"name", fact.name}, {"value", fact.value}, {"decides", fact.decides}});
  }
  Json roofs = Json::array();
  for (const Roof& roof : report.roofs) {
    Json levels = Json::array();
    for (const Bandwidth& level : roof.bandwidth) {
      levels.push_back({{"level", level.level},
                        {"working_set_bytes", level.working_set_bytes},
                        {"bytes_per_second", level.bytes_per_second}});
    }
    roofs.push_back(
        {{"threads", roof.threads}, {"flops_per_second", roof.flops_per_second}, {"bandwidth", levels}});
  }
  const Weather& weather = report.weather;
  return {{"key", machine.key},
          {"facts", facts},
          {"roofs", roofs},
          {"weather",
           {{"seconds", weather.seconds},
            {"steal_share", weather.steal_share},
            {"other_busy_share", weather.other_busy_share},
            {"cpu_pressure_share", known(weather.cpu_pressure_share)},
            {"involuntary_switches", weather.involuntary_switches},
            {"migrations", known(weather.migrations)},
            {"major_faults", weather.major_faults}}}};
}

Json json_of(const AgreementRow& row) {
  return {{"operation", row.operation},
          {"variants", row.variants},
          {"cases", row.cases},
          {"trials", row.trials},
          {"disagreeing", row.disagreeing},
          {"worst_error_in_bounds", row.worst_error},
          {"compared", row.compared},
          {"total", row.total}};
}

/// A value that is made of seconds is null where there are none.
Json known_if(bool has_seconds, double value) { return has_seconds ? Json(value) : Json(nullptr); }

Json json_of(const TimeRow& row) {
  const bool has_seconds = row.seconds.middle > 0;
  return {{"key", row.key},
          {"case", row.problem_case},
          {"note", row.note},
          {"variant", row.variant},
          {"threads", row.threads},
          {"seconds", has_seconds ? json_of(row.seconds) : Json(nullptr)},
          {"launches", row.launches},
          {"slices", row.slices},
          {"speedup", row.speedup ? json_of(*row.speedup) : Json(nullptr)},
          {"flops_per_second", known_if(has_seconds, row.flops_per_second)},
          {"bytes_per_second", known_if(has_seconds, row.bytes_per_second)},
          {"share_of_roof", row.share_of_roof > 0 ? Json(row.share_of_roof) : Json(nullptr)},
          {"beats_roof", row.beats_roof},
          {"allocations_per_call", row.allocations_per_call},
          {"allocated_bytes_per_call", row.allocated_bytes_per_call},
          {"workspace_bytes", row.workspace_bytes},
          {"remark", row.remark}};
}

Json json_of(const BreakEven& row) {
  return {{"operation", row.operation},
          {"kind", row.kind},
          {"trial", row.trial},
          {"rival", row.rival},
          {"sizes", row.sizes},
          {"from", row.from.empty() ? Json(nullptr) : Json(row.from)},
          {"from_bytes", row.from.empty() ? Json(nullptr) : Json(row.from_bytes)},
          {"slower", row.slower},
          {"undecided", row.undecided}};
}

Json json_of(const Comparison& comparison) {
  Json verdicts = Json::array();
  for (const Verdict& verdict : comparison.verdicts) {
    verdicts.push_back({{"key", verdict.key},
                        {"standing", to_string(verdict.standing)},
                        {"ratio", json_of(verdict.ratio)},
                        {"limit", verdict.limit},
                        {"why", verdict.why}});
  }
  return {{"comparable", comparison.comparable},
          {"differences", comparison.differences},
          {"objections", comparison.objections},
          {"machine_moved", comparison.machine_moved},
          {"verdicts", verdicts}};
}

Json json_of(const Prediction& prediction) {
  if (!prediction.impossible.empty()) {
    return {{"label", prediction.label}, {"impossible", prediction.impossible}};
  }
  Json parts = Json::array();
  for (const Contribution& part : prediction.contributions) {
    parts.push_back({{"key", part.key},
                     {"note", part.note},
                     {"per_step", part.per_step},
                     {"seconds", json_of(part.seconds)},
                     {"seconds_per_step", part.seconds_per_step},
                     {"share_percent", part.share}});
  }
  return {{"label", prediction.label},
          {"seconds", json_of(prediction.seconds)},
          {"interval_from", to_string(prediction.source)},
          {"launches", prediction.launches},
          {"contributions", parts},
          {"left_out", prediction.left_out}};
}

/// No limit is no number of JSON.
Json limit_or_null(double limit) { return std::isinf(limit) ? Json(nullptr) : Json(limit); }

Json json_of(const Composition& composition) {
  if (!composition.impossible.empty()) return {{"impossible", composition.impossible}};
  Json effects = Json::array();
  for (const OperationEffect& one : composition.effects) {
    effects.push_back({{"operation", one.operation},
                       {"share_percent", one.share},
                       {"speedup", json_of(one.speedup)},
                       {"epoch_speedup", json_of(one.epoch)},
                       {"limit", limit_or_null(one.limit)},
                       {"share_left_percent", one.share_left},
                       {"limit_left", limit_or_null(one.limit_left)}});
  }
  return {{"together", json_of(composition.together)}, {"operations", effects}};
}

template <class Row>
Json array_of(const std::vector<Row>& rows) {
  Json out = Json::array();
  for (const Row& row : rows) out.push_back(json_of(row));
  return out;
}

}  // namespace

std::string to_json(const Report& report) {
  Json disagreements = Json::array();
  for (const Disagreement& one : report.disagreements) {
    disagreements.push_back({{"key", one.key}, {"detail", one.detail}});
  }
  const Json out{{"schema", "assay.report/1"},
                 {"suite", report.suite},
                 {"about", report.about},
                 {"date", report.date},
                 {"commit", report.commit},
                 {"seed", report.seed},
                 {"outcome", json_of(report.outcome)},
                 {"machine", json_of(report, report.machine)},
                 {"agreement", array_of(report.agreement)},
                 {"disagreements", disagreements},
                 {"withheld", report.withheld.empty() ? Json(nullptr) : Json(report.withheld)},
                 {"times", array_of(report.times)},
                 {"break_even", array_of(report.break_even)},
                 {"baseline", report.baseline},
                 {"comparison", report.comparison ? json_of(*report.comparison) : Json(nullptr)},
                 {"predictions", array_of(report.predictions)},
                 {"composition", json_of(report.composition)},
                 {"not_covered", report.not_covered},
                 {"reproduce", report.reproduce}};
  // Names and messages come from outside: bytes that are no UTF-8 become replacement characters.
  return json_text(out) + "\n";
}

}  // namespace assay
