#include "bench/report/page.hpp"

#include "bench/compare/pull_request.hpp"
#include "bench/report/fields.hpp"
#include "core/markup/template.hpp"
#include "core/text/figures.hpp"
#include "core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace assay {
namespace {

/// A table of more rows is folded: what comes after it would be far below.
constexpr std::size_t few_rows = 40;
/// Rows beyond these are in the tables alone.
constexpr std::size_t most_speedups = 40, most_rates = 800, most_sample_plots = 40, most_size_plots = 24;

/// Texts from outside may have any length; those of real reports are shorter than this. The data has all of
/// them.
constexpr std::size_t most_text_bytes = 600;

/// Shortens all texts but commands, which would be others then.
void shorten_texts(Json& value) {
  if (value.is_string()) {
    if (value.text().size() > most_text_bytes) value = Json(abridged(value.text(), most_text_bytes));
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) shorten_texts(value[i]);
  } else if (value.is_object()) {
    std::vector<std::string> names;
    for (const auto& [name, member] : value.members()) {
      if (name != "reproduce" && (member.is_structured() || member.is_string())) names.push_back(name);
    }
    for (const std::string& name : names) shorten_texts(value[name]);
  }
}

bool has_seconds(const TimeRow& row) { return std::isfinite(row.seconds.middle) && row.seconds.middle > 0; }

/// Speed-ups over naive of the fastest variant of each case, the least first: where most is left to do.
Json speedups_plot(const Report& report) {
  std::map<std::string, const TimeRow*> fastest;
  for (const TimeRow& row : report.times) {
    if (!row.speedup) continue;
    const TimeRow*& best = fastest[row.problem_case];
    if (best == nullptr || row.speedup->middle > best->speedup->middle) best = &row;
  }
  std::vector<const TimeRow*> sorted;
  for (const auto& [problem, row] : fastest) sorted.push_back(row);
  std::ranges::stable_sort(sorted, {}, [](const TimeRow* row) { return row->speedup->middle; });
  std::vector<PlottedInterval> rows;
  for (const TimeRow* row : sorted) {
    if (rows.size() == most_speedups) break;
    const Interval& ratio = *row->speedup;
    rows.push_back({.name = row->key,
                    .title = row->key + ": " + speedup_text(ratio) + " against naive",
                    .low = ratio.low,
                    .middle = ratio.middle,
                    .high = ratio.high,
                    .look = ratio.low > 1    ? Look::better
                            : ratio.high < 1 ? Look::worse
                                             : Look::open});
  }
  if (rows.empty()) return {};
  return forest_plot("Speed-ups over naive of the fastest variant of each case, with intervals",
                     "times as fast as naive: right of 1x is faster", rows, PlotScale::ratios, {},
                     sorted.size() - rows.size());
}

Json roofline(const Report& report) {
  if (report.roofs.empty() || !report.withheld.empty()) return {};
  std::vector<PlottedRoof> roofs;
  for (const Roof& roof : report.roofs) {
    const std::string threads = fmt::format("{} thread{}", roof.threads, roof.threads == 1 ? "" : "s");
    roofs.push_back({fmt::format("{} GFLOP/s, {}", figure(roof.flops_per_second / 1e9), threads),
                     roof.flops_per_second, /*sloped=*/false});
    for (const Bandwidth& level : roof.bandwidth) {
      // Inner levels belong to a core; those of all threads would crowd the picture.
      if (roof.threads != report.roofs.front().threads) continue;
      roofs.push_back({fmt::format("{} {} GB/s{}", level.level, figure(level.bytes_per_second / 1e9),
                                   roof.threads == 1 ? "" : ", " + threads),
                       level.bytes_per_second, /*sloped=*/true});
    }
  }
  std::vector<const TimeRow*> rows;
  for (const TimeRow& row : report.times) {
    if (has_seconds(row) && row.flops_per_second > 0 && row.bytes_per_second > 0) rows.push_back(&row);
  }
  if (rows.empty()) return {};
  // Those near the roof last, so that they lie on top and stay where there are too many.
  std::ranges::stable_sort(rows, {}, &TimeRow::flops_per_second);
  const std::size_t more = rows.size() - std::min(rows.size(), most_rates);
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(more));
  std::vector<PlottedRate> rates;
  for (const TimeRow* row : rows) {
    const std::string share =
        row->share_of_roof > 0 ? ", " + percent_text(row->share_of_roof) + " of the roof" : "";
    rates.push_back(
        {.title = fmt::format("{}: {}{}", row->key,
                              throughput_text(row->flops_per_second, row->bytes_per_second), share),
         .flops_per_byte = row->flops_per_second / row->bytes_per_second,
         .flops_per_second = row->flops_per_second,
         .look = row->variant == "naive" ? Look::equal
                 : row->threads > 1      ? Look::second
                                         : Look::first});
  }
  return roofline_plot("Rates of the contracts' work below the roofs of this machine", roofs, rates, more);
}

Json peers_plot(const Report& report) {
  std::vector<PlottedInterval> rows;
  for (const PeerRow& row : report.peers) {
    const PeerRatio &worst = row.ratios.front(), &best = row.ratios.back();
    const std::size_t cases = row.ratios.size();
    rows.push_back(
        {.name = fmt::format("{}, {} thread{}, {} case{}", row.operation, row.threads,
                             row.threads == 1 ? "" : "s", cases, cases == 1 ? "" : "s"),
         .title = fmt::format("{}: mean {:.3g}, worst {:.3g} at {}, best {:.3g} at {}", row.operation,
                              row.mean, worst.ratio.middle, worst.problem, best.ratio.middle, best.problem),
         .low = worst.ratio.middle,
         .middle = row.mean,
         .high = best.ratio.middle,
         .look = row.mean >= 1 ? Look::better : Look::worse});
  }
  if (rows.empty()) return {};
  return forest_plot("Speed of ours against the libraries, from worst to best case, with the mean",
                     "time of the library / time of ours: right of 1x ours is faster", rows,
                     PlotScale::ratios);
}

Json predictions_plot(const Report& report) {
  std::vector<PlottedInterval> rows;
  for (const Prediction& one : report.predictions) {
    if (!one.impossible.empty()) continue;
    rows.push_back({.name = one.label + ": " + seconds_text(one.seconds),
                    .title = one.label + ": " + seconds_text(one.seconds),
                    .low = one.seconds.low,
                    .middle = one.seconds.middle,
                    .high = one.seconds.high,
                    .look = one.label == "naive"      ? Look::equal
                            : one.label == "baseline" ? Look::second
                                                      : Look::first});
  }
  if (rows.empty()) return {};
  return forest_plot("Predicted epochs with their intervals", "seconds of one epoch", rows,
                     PlotScale::seconds);
}

double relative_width(const TimeRow& row) {
  return (row.seconds.high - row.seconds.low) / row.seconds.middle;
}

/// The rows whose samples say most: those that failed or moved, then the widest intervals.
std::vector<const TimeRow*> rows_to_show(const Report& report) {
  std::map<std::string_view, int> moved;
  if (report.comparison) {
    for (const ComparedRow& verdict : report.comparison->rows) {
      const Look look = look_of(verdict.standing);
      moved[verdict.key] = look == Look::worse ? 0 : look == Look::better ? 1 : 2;
    }
  }
  std::vector<const TimeRow*> out;
  for (const TimeRow& row : report.times) {
    if (has_seconds(row) && !row.samples.empty()) out.push_back(&row);
  }
  std::ranges::stable_sort(out, {}, [&](const TimeRow* row) {
    const auto found = moved.find(row->key);
    return std::pair(found == moved.end() ? 2 : found->second, -relative_width(*row));
  });
  return out;
}

/// Words that say what a row of times is sorted by.
Json sort_values(const TimeRow& row) {
  const auto known = [](double value) { return std::isfinite(value) && value > 0 ? Json(value) : Json(""); };
  return Json{{"seconds", known(row.seconds.middle)},
              {"speedup", known(row.speedup ? row.speedup->middle : 0)},
              {"rate", known(row.bytes_per_second)},
              {"share", known(row.share_of_roof)}};
}

}  // namespace

Page report_page(const Report& report) {
  Page out;
  Json values = document_values(report);
  shorten_texts(values);
  const auto show = [&](const char* name, Json plot) {
    if (!plot.is_null()) out.plots.emplace_back(name, plot);
    values[name] = std::move(plot);
  };
  show("ratios_plot", report.comparison ? verdicts_plot(*report.comparison) : Json());
  show("speedups_plot", speedups_plot(report));
  show("roofline_plot", roofline(report));
  show("peers_plot", peers_plot(report));
  show("epochs_plot", predictions_plot(report));

  for (std::size_t i = 0; i < report.times.size(); ++i)
    values["times"][i]["sort"] = sort_values(report.times[i]);
  if (!report.comparison) values["verdict_rows"] = Json::array();
  values["few"] = report.times.size() <= few_rows;

  Json sizes = Json::array();
  std::size_t swept = 0;
  for (const BreakEven& row : report.break_even) {
    if (row.points.size() < 2 || ++swept > most_size_plots) continue;
    std::vector<PlottedSize> points;
    for (const BreakEvenSize& one : row.points) {
      points.push_back({.title = one.extents + ": " + speedup_text(one.ratio) + " against " + row.rival,
                        .bytes = one.bytes,
                        .low = one.ratio.low,
                        .middle = one.ratio.middle,
                        .high = one.ratio.high});
    }
    const std::string name =
        row.operation + (row.kind.empty() ? "" : " " + row.kind) + ", " + row.trial + " against " + row.rival;
    const Json plot = sizes_plot("Speed-up by size of " + name, points);
    out.plots.emplace_back(fmt::format("sizes_{}", swept), plot);
    sizes.push_back(Json{{"name", name},
                         {"from", row.from.empty() ? "" : row.from + " (" + bytes_text(row.from_bytes) + ")"},
                         {"sizes_plot", plot}});
  }
  values["sizes_more"] = swept > most_size_plots ? Json(swept - most_size_plots) : Json();
  values["size_plots"] = std::move(sizes);

  Json strips = Json::array();
  const std::vector<const TimeRow*> sampled = rows_to_show(report);
  for (const TimeRow* row : sampled) {
    if (strips.size() == most_sample_plots) break;
    const Json plot =
        strip_plot("Samples of " + row->key, {{"seconds per call", row->samples}}, PlotScale::seconds);
    strips.push_back(Json{{"key", row->key}, {"words", seconds_text(row->seconds)}, {"strip", plot}});
    out.plots.emplace_back(fmt::format("samples_{}", strips.size()), plot);
  }
  values["strips_more"] = sampled.size() > strips.size() ? Json(sampled.size() - strips.size()) : Json();
  values["strips"] = std::move(strips);
  values["report_json"] = to_value(report).dump();
  out.html = document("suite.html", values);
  return out;
}

}  // namespace assay
