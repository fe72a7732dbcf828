// What Markdown says of a report beyond its JSON: figures and words, added to the values that programs get.
#include "bench/compare/words.hpp"
#include "bench/report/fields.hpp"
#include "core/code/calls.hpp"
#include "core/markup/template.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace assay {
namespace {

std::string number(std::size_t value) { return count_text(static_cast<Index>(value)); }

/// "1 process start", "3 process starts".
std::string counted(const std::string& number, const std::string& what) {
  return fmt::format("{} {}{}", number, what, number == "1" ? "" : "s");
}

std::string bytes_or(double bytes, const char* none) { return bytes > 0 ? bytes_text(bytes) : none; }

std::string rests_on(const Summary& summary) {
  if (summary.measured == 0) return "It rests on no measurement.";
  std::string launches = number(summary.most_launches);
  if (summary.fewest_launches != summary.most_launches) {
    launches = number(summary.fewest_launches) + " to " + launches;
  }
  return fmt::format("It rests on {} measured trials of {}, each in {}.", number(summary.measured),
                     number(summary.trials), counted(launches, "process start"));
}

std::string visible(const Summary& summary) {
  if (summary.visible_in_half <= 0) return "";
  return fmt::format(
      "By the spread of these trials a slow-down of {} would have been seen in half of them, one of {} in "
      "nine "
      "of ten.",
      percent_text(summary.visible_in_half), percent_text(summary.visible_in_most));
}

/// The trials that the verdict is about; all others wait for their section.
void add_first(Json& out, const Report& report) {
  constexpr std::size_t shown = 10;
  Json lines = Json::array();
  const auto add = [&](const std::string& key, const std::string& text) {
    lines.push_back(Json{{"key", key}, {"text", text}});
  };
  for (const Disagreement& one : report.disagreements) add(one.key, one.detail);
  for (const ImpossibleTime& one : report.impossible) add(one.key, one.why);
  if (report.comparison) {
    for (const std::string& objection : report.comparison->objections) add("", objection);
    for (const ComparedRow& verdict : report.comparison->rows) {
      const std::string figures = figures_in_words(verdict, /*worse_only=*/true);
      if (verdict.standing == Standing::slower) {
        add(verdict.key, in_words(verdict) + (figures.empty() ? "" : "; " + figures));
      } else if (!figures.empty()) {
        add(verdict.key, figures);
      }
    }
  }
  const std::size_t all = lines.size();
  Json::Array kept(lines.items().begin(),
                   lines.items().begin() + static_cast<std::ptrdiff_t>(std::min(shown, all)));
  out["first"] = Json(std::move(kept));
  out["first_more"] = all > shown ? Json(all - shown) : Json();
}

// How the bytes of a mix are called, 0 of which are written when all are read.
std::string mix_text(double written_share) {
  if (written_share == 0) return "reads alone";
  if (written_share == 1) return "writes alone";
  return written_share == 0.5 ? "a write to a read" : percent_text(written_share) + " writes";
}

void add_roofs(Json& out, const Report& report) {
  Json rows = Json::array();
  const auto add = [&](int threads, std::string roof, std::string reached) {
    rows.push_back(Json{{"threads", threads}, {"roof", std::move(roof)}, {"reached", std::move(reached)}});
  };
  for (const Roof& roof : report.roofs) {
    add(roof.threads, "f32 fused multiply-add", figure(roof.flops_per_second / 1e9) + " GFLOP/s");
    for (const Bandwidth& level : roof.bandwidth) {
      std::string reached = figure(level.bytes_per_second / 1e9) + " GB/s";
      const char* before = "; ";
      for (const TrafficMix& mix : level.mixes) {
        reached +=
            fmt::format("{}{} {}", before, mix_text(mix.written_share), figure(mix.bytes_per_second / 1e9));
        before = ", ";
      }
      add(roof.threads, fmt::format("{}, {}", level.level, bytes_text(level.working_set_bytes)),
          std::move(reached));
    }
  }
  out["roof_rows"] = std::move(rows);
}

void add_agreement(Json& rows, const Report& report) {
  for (std::size_t i = 0; i < report.agreement.size(); ++i) {
    const AgreementRow& row = report.agreement[i];
    Json& out = rows[i];
    out["variants_text"] = number(row.variants);
    out["cases_text"] = number(row.cases);
    out["trials_text"] = number(row.trials);
    out["disagree_text"] = number(row.disagreeing);
    out["worst_text"] = figure(row.worst_error);
    out["compared_text"] =
        (row.compared == row.total ? "" : count_text(row.compared) + " of ") + count_text(row.total);
  }
}

void add_figures(Json& out, const Report& report) {
  Json rows = Json::array();
  for (const FigureRow& row : report.figures) {
    const Figure& figure = row.figure;
    const auto gap = gap_of(figure);
    rows.push_back(
        Json{{"case", row.problem_case},
             {"name", figure.name},
             {"better", figure.better == Figure::Better::lower    ? ", lower is better"
                        : figure.better == Figure::Better::higher ? ", higher is better"
                                                                  : ""},
             {"value_text", with_unit(figure.value, figure.unit)},
             {"bound_text", figure.bound ? with_unit(*figure.bound, figure.unit) : ""},
             {"gap_text", gap ? fmt::format("{:.2f} %", 100 * *gap) : ""},
             {"all", row.of_all && row.trials.size() > 1 ? fmt::format("all {}", row.trials.size()) : ""},
             {"trials", row.of_all && row.trials.size() > 1 ? Json::array() : Json(row.trials)}});
  }
  out["figure_rows"] = std::move(rows);
}

std::string preparation(const TrustRow& row) {
  constexpr double handle_seconds = 1e-6;  // takes what is no preparation worth the name
  if (row.prepare_seconds < handle_seconds) return "";
  const std::string calls = row.repaid_after <= 0 ? ""
                            : row.repaid_after == 1
                                ? ", repaid by one call"
                                : fmt::format(", repaid by {:.0f} calls", row.repaid_after);
  return seconds_text(row.prepare_seconds) + calls;
}

void add_trust(Json& rows, const Report& report) {
  for (std::size_t i = 0; i < report.trust.size(); ++i) {
    const TrustRow& row = report.trust[i];
    Json& out = rows[i];
    out["judged_text"] = count_text(row.judged) + " of " + count_text(row.slices);
    out["compared_text"] = count_text(row.compared);
    out["allocations_text"] = count_text(row.allocations_per_call);
    out["keeps_text"] = bytes_or(row.workspace_bytes, "nothing");
    out["preparation_text"] = preparation(row);
    Json calls = Json::array();
    if (row.calls) {
      for (const Calls& one : *row.calls) calls.push_back(in_words(one));
    }
    out["calls_none"] = !row.calls ? "unknown" : calls.empty() ? "nothing" : "";
    out["calls_text"] = std::move(calls);
  }
}

std::string intervals(const Report& report) {
  if (report.times.empty()) return "";
  if (!report.withheld.empty()) {
    return "Times and rates are withheld: " + report.withheld +
           ". Speed-ups stand, since a case and its naive variant were measured on one machine.";
  }
  double least = 1, most = 0;
  std::size_t of_one_launch = 0;
  for (const TimeRow& row : report.times) {
    if (row.launches == 1) ++of_one_launch;
    least = std::min(least, row.seconds.coverage);
    most = std::max(most, row.seconds.coverage);
  }
  const std::string share =
      least == most ? percent_text(most) : percent_text(least) + " to " + percent_text(most);
  return fmt::format("An interval of a time holds the true value in {} of such runs{}.{}", share,
                     least < most ? ", least where there are few samples" : "",
                     of_one_launch > 0
                         ? " Those of a single process start (1 x) are intervals over its slices, "
                           "which share its luck: the next start may lie outside."
                         : "");
}

std::string of_roof(const TimeRow& row) {
  if (row.roof_not_believed) return "roof not believed";
  return row.share_of_roof <= 0 ? "unknown" : percent_text(row.share_of_roof);
}

/// The rows of times, case by case.
void add_cases(Json& values, const Report& report) {
  const bool shown = report.withheld.empty();
  Json cases = Json::array();
  for (std::size_t i = 0; i < report.times.size(); ++i) {
    const TimeRow& row = report.times[i];
    Json& out = values["times"][i];
    out["n"] = fmt::format("{} x {}", row.launches, row.slices / std::max<std::size_t>(1, row.launches));
    out["time"] = shown ? seconds_text(row.seconds) : "withheld";
    out["vs_naive"] = row.speedup ? speedup_text(*row.speedup) : "";
    out["throughput"] = shown ? throughput_text(row.flops_per_second, row.bytes_per_second) : "withheld";
    out["of_roof"] = shown ? of_roof(row) : "withheld";
    out["allocations"] = count_text(row.allocations_per_call);
    out["workspace"] = bytes_or(row.workspace_bytes, "");
    if (i == 0 || row.problem_case != report.times[i - 1].problem_case) {
      cases.push_back(Json{{"case", row.problem_case}, {"note", row.note}, {"rows", Json::array()}});
    }
    cases[cases.size() - 1]["rows"].push_back(out);
  }
  values["cases"] = std::move(cases);
}

/// Time of the library by ours, in words of ours.
std::string beside_text(double ratio) {
  const double factor = std::max(ratio, 1 / ratio);
  return figure(factor) + (factor < 1.005 ? "x as fast" : ratio > 1 ? "x faster" : "x slower");
}

std::string beside_text(const Interval& ratio) {
  const bool faster = ratio.middle >= 1;
  return fmt::format("{} [{}, {}]", beside_text(ratio.middle), figure(faster ? ratio.low : 1 / ratio.high),
                     figure(faster ? ratio.high : 1 / ratio.low));
}

void add_peers(Json& rows, const Report& report) {
  for (std::size_t i = 0; i < report.peers.size(); ++i) {
    const PeerRow& row = report.peers[i];
    Json& values = rows[i];
    values["cases"] = row.ratios.size();
    values["mean_text"] = beside_text(row.mean);
    for (std::size_t k = 0; k < row.ratios.size(); ++k) {
      values["ratios"][k]["case"] = row.operation + "/" + row.ratios[k].problem;
      values["ratios"][k]["text"] = beside_text(row.ratios[k].ratio);
    }
    values["worst"] = values["ratios"][0];
    values["best"] = values["ratios"][row.ratios.size() - 1];
  }
}

void add_ladder(Json& rows, const Report& report) {
  for (std::size_t i = 0; i < report.ladder.size(); ++i) {
    const LadderStep& one = report.ladder[i];
    rows[i]["name"] = one.threads == 1 ? one.step : fmt::format("{}#{}", one.step, one.threads);
    rows[i]["mean_text"] = beside_text(one.mean);
    rows[i]["in_all_text"] = beside_text(one.in_all);
    rows[i]["worst_text"] = beside_text(one.worst);
    rows[i]["best_text"] = beside_text(one.best);
  }
}

/// Rows in which there is a question; the others are counted.
void add_sizes(Json& values, const Report& report) {
  Json rows = Json::array();
  std::size_t always = 0;
  for (std::size_t i = 0; i < report.break_even.size(); ++i) {
    const BreakEven& row = report.break_even[i];
    if (row.slower.empty() && row.undecided.empty()) {
      ++always;
      continue;
    }
    Json& out = values["break_even"][i];
    out["from_text"] = bytes_text(row.from_bytes);
    rows.push_back(out);
  }
  values["size_rows"] = std::move(rows);
  values["always_faster"] = always == 0   ? ""
                            : always == 1 ? "1 pair of a variant and its rival is"
                                          : number(always) + " pairs of a variant and its rival are";
}

/// Returns the place of a standing in the table: what readers must see first comes first.
int weight(Standing standing) {
  constexpr std::array order{Standing::crashed,    Standing::timed_out,      Standing::wrong,
                             Standing::impossible, Standing::slower,         Standing::accepted,
                             Standing::undecided,  Standing::not_comparable, Standing::gone,
                             Standing::faster,     Standing::added,          Standing::skipped,
                             Standing::same};
  return static_cast<int>(std::ranges::find(order, standing) - order.begin());
}

void add_comparison(Json& values, const Report& report) {
  values["compared_with"] = !report.baseline.empty() ? report.baseline
                            : report.comparison      ? "Compared with another results file."
                                                     : "There is no baseline.";
  values["differences"] = report.comparison ? Json(report.comparison->differences) : Json::array();
  if (!report.comparison) return;
  values["moved_text"] = figure(report.comparison->machine_moved) + "x";
  std::vector<ComparedRow> sorted = report.comparison->rows;
  std::ranges::stable_sort(sorted, {}, [](const ComparedRow& v) { return weight(listed_as(v)); });
  Json rows = Json::array();
  for (const ComparedRow& verdict : sorted) {
    const std::string figures = figures_in_words(verdict);
    rows.push_back(Json{{"key", verdict.key},
                        {"standing", to_string(verdict.standing)},
                        {"words", in_words(verdict) + (figures.empty() ? "" : "; " + figures)},
                        {"ratio", json_number(verdict.ratio.middle)},
                        {"limit_text", figure(verdict.limit) + "x"},
                        {"why", verdict.why}});
  }
  values["verdict_rows"] = std::move(rows);
}

Json parts(const Prediction& prediction) {
  constexpr std::size_t shown = 12;
  Json out = Json::array();
  double others = 0;
  for (const Contribution& part : prediction.contributions) {
    if (out.size() == shown) {
      others += part.share;
      continue;
    }
    out.push_back(Json{{"key", part.key},
                       {"others", ""},
                       {"note", part.note},
                       {"per_step_text", count_text(part.per_step)},
                       {"seconds_text", seconds_text(part.seconds)},
                       {"per_step_seconds_text", seconds_text(part.seconds_per_step)},
                       {"share_text", figure(part.share) + " %"}});
  }
  if (const std::size_t all = prediction.contributions.size(); all > shown) {
    out.push_back(Json{{"key", ""},
                       {"others", fmt::format("{} others", all - shown)},
                       {"note", ""},
                       {"per_step_text", ""},
                       {"seconds_text", ""},
                       {"per_step_seconds_text", ""},
                       {"share_text", figure(others) + " %"}});
  }
  return out;
}

std::string limit_text(double limit) { return std::isinf(limit) ? "none" : figure(limit) + "x"; }

void add_epochs(Json& values, const Report& report) {
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < report.predictions.size(); ++i) {
    const Prediction& one = report.predictions[i];
    Json& out = values["predictions"][i];
    out["impossible"] = one.impossible;
    if (one.impossible.empty()) {
      out["seconds_text"] = seconds_text(one.seconds);
      out["coverage_text"] = percent_text(one.seconds.coverage);
      out["launches_text"] = counted(fmt::format("{}", one.launches), "process start");
      out["parts"] = parts(one);
    }
    for (const std::string& line : one.left_out) {
      if (std::ranges::find(left_out, line) == left_out.end()) left_out.push_back(line);
    }
  }
  values["left_out"] = left_out;
  Json effects = Json::array();
  if (report.composition.impossible.empty()) {
    for (const OperationEffect& one : report.composition.effects) {
      effects.push_back(Json{{"operation", one.operation},
                             {"share", figure(one.share) + " %"},
                             {"speedup", speedup_text(one.speedup)},
                             {"epoch", speedup_text(one.epoch)},
                             {"limit", limit_text(one.limit)},
                             {"share_left", figure(one.share_left) + " %"},
                             {"limit_left", limit_text(one.limit_left)}});
    }
    values["together_text"] = speedup_text(report.composition.together);
  }
  values["effects"] = std::move(effects);
}

}  // namespace

std::string weather_text(const Weather& weather) {
  if (weather.seconds <= 0) return "the weather was not recorded.";
  const std::string pressure =
      weather.cpu_pressure_share < 0
          ? "pressure not visible here"
          : "some task waited for a processor " + percent_text(weather.cpu_pressure_share) + " of the time";
  const std::string migrations =
      weather.migrations < 0 ? "migrations not visible here" : count_text(weather.migrations) + " migrations";
  return fmt::format(
      "{}; {} of processor time stolen by the hypervisor, {} used by other processes; {}; {} involuntary "
      "switches, {}, {} major faults.",
      seconds_text(weather.seconds), percent_text(weather.steal_share),
      percent_text(weather.other_busy_share), pressure, count_text(weather.involuntary_switches), migrations,
      count_text(weather.major_faults));
}

Json document_values(const Report& report) {
  Json out = to_value(report);
  // Pictures and programs need them; no sentence does, and there are many.
  for (std::size_t i = 0; i < report.times.size(); ++i) out["times"][i].erase("samples");
  for (std::size_t i = 0; i < report.break_even.size(); ++i) out["break_even"][i].erase("points");
  out["rests_on"] = rests_on(report.summary);
  out["visible"] = visible(report.summary);
  Json counts = Json::array();
  for (const auto& count : report.summary.counts) {
    counts.push_back(Json{{"state", count.state}, {"trials", number(count.trials)}});
  }
  out["counts"] = std::move(counts);
  add_first(out, report);
  Json facts = Json::array();
  for (const Fact& fact : report.machine.facts) {
    facts.push_back(Json{{"name", fact.name}, {"value", fact.value}, {"decides", fact.decides}});
  }
  out["facts"] = std::move(facts);
  add_roofs(out, report);
  out["weather_text"] = weather_text(report.weather);
  add_agreement(out["agreement"], report);
  add_figures(out, report);
  add_trust(out["trust"], report);
  out["intervals"] = intervals(report);
  out["impossible"] = Json::array();
  for (const ImpossibleTime& one : report.impossible) {
    out["impossible"].push_back(Json{{"key", one.key}, {"why", one.why}});
  }
  add_cases(out, report);
  add_peers(out["peers"], report);
  add_ladder(out["ladder"], report);
  add_sizes(out, report);
  add_comparison(out, report);
  add_epochs(out, report);
  return out;
}

std::string to_markdown(const Report& report) { return document("suite.md", document_values(report)); }

}  // namespace assay
