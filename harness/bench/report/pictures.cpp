// Pictures of a suite's report.
#include "bench/report/content.hpp"

#include "bench/compare/pull_request.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

/// Pictures show so many rows; tables have all.
constexpr std::size_t most_speedups = 40, most_rates = 800;

bool has_seconds(const TimeRow& row) { return std::isfinite(row.seconds.middle) && row.seconds.middle > 0; }

}  // namespace

Plot speedups_plot(const Report& report) {
  std::map<std::string, const TimeRow*> fastest;
  for (const TimeRow& row : report.times) {
    if (!row.speedup) continue;
    const TimeRow*& best = fastest[case_of(row.trial)];
    if (best == nullptr || row.speedup->middle > best->speedup->middle) best = &row;
  }
  std::vector<const TimeRow*> sorted;
  for (const auto& [problem, row] : fastest) sorted.push_back(row);
  std::ranges::stable_sort(sorted, {}, [](const TimeRow* row) { return row->speedup->middle; });
  std::vector<PlottedInterval> rows;
  for (const TimeRow* row : sorted) {
    if (rows.size() == most_speedups) break;
    const Interval& ratio = *row->speedup;
    rows.push_back({.name = row->trial.key,
                    .title = row->trial.key + ": " + speedup_text(ratio) + " against naive",
                    .value = ratio,
                    .look = ratio.low > 1    ? Look::better
                            : ratio.high < 1 ? Look::worse
                                             : Look::open});
  }
  return forest_plot("Speed-ups over naive of the fastest variant of each case, with intervals",
                     "times as fast as naive: right of 1x is faster", rows, PlotScale::ratios, {},
                     sorted.size() - rows.size());
}

Plot roofline(const Report& report) {
  if (report.results.roofs.empty() || !report.results.mixed_machines.empty()) return {};
  std::vector<PlottedRoof> roofs;
  for (const Roof& roof : report.results.roofs) {
    const std::string threads = quantity_text(roof.threads, "thread");
    roofs.push_back({fmt::format("{} GFLOP/s, {}", figure(roof.flops_per_second / 1e9), threads),
                     roof.flops_per_second, /*sloped=*/false});
    for (const Bandwidth& level : roof.bandwidth) {
      // Inner levels belong to a core; those of all threads would crowd the picture.
      if (roof.threads != report.results.roofs.front().threads) continue;
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
  // Rates near the roof come last, so that they lie on top and are kept where there are too many.
  std::ranges::stable_sort(rows, {}, &TimeRow::flops_per_second);
  const std::size_t more = rows.size() - std::min(rows.size(), most_rates);
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(more));
  std::vector<PlottedRate> rates;
  for (const TimeRow* row : rows) {
    const std::string share =
        row->share_of_roof > 0 ? ", " + percent_text(row->share_of_roof) + " of the roof" : "";
    rates.push_back(
        {.title = fmt::format("{}: {}{}", row->trial.key,
                              doc::amount_text(doc::throughput(row->flops_per_second, row->bytes_per_second)),
                              share),
         .flops_per_byte = row->flops_per_second / row->bytes_per_second,
         .flops_per_second = row->flops_per_second,
         .look = row->trial.variant == "naive" ? Look::equal
                 : row->trial.threads > 1      ? Look::second
                                               : Look::first});
  }
  return roofline_plot("Rates of the contracts' work below the roofs of this machine", roofs, rates, more);
}

Plot peers_plot(const Report& report) {
  std::vector<PlottedInterval> rows;
  for (const PeerRow& row : report.peers) {
    const CaseRatio &worst = row.ratios.front(), &best = row.ratios.back();
    rows.push_back(
        {.name = fmt::format("{}, {}, {}", row.operation, quantity_text(row.threads, "thread"),
                             quantity_text(std::ssize(row.ratios), "case")),
         .title = fmt::format("{}: mean {:.3g}, worst {:.3g} at {}, best {:.3g} at {}", row.operation,
                              row.mean, worst.ratio.middle, worst.problem, best.ratio.middle, best.problem),
         .value = {.low = worst.ratio.middle, .middle = row.mean, .high = best.ratio.middle},
         .look = row.mean >= 1 ? Look::better : Look::worse});
  }
  return forest_plot("Speed of ours against the libraries, from worst to best case, with the mean",
                     "time of the library / time of ours: right of 1x ours is faster", rows,
                     PlotScale::ratios);
}

Plot predictions_plot(const Report& report) {
  std::vector<PlottedInterval> rows;
  for (const Prediction& one : report.predictions) {
    if (!one.impossible.empty()) continue;
    rows.push_back({.name = one.label + ": " + seconds_text(one.seconds),
                    .title = one.label + ": " + seconds_text(one.seconds),
                    .value = one.seconds,
                    .look = one.label == "naive"      ? Look::equal
                            : one.label == "baseline" ? Look::second
                                                      : Look::first});
  }
  return forest_plot("Predicted epochs with their intervals", "seconds of one epoch", rows,
                     PlotScale::seconds);
}

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
    if (has_seconds(row)) out.push_back(&row);
  }
  std::ranges::stable_sort(out, {}, [&](const TimeRow* row) {
    const auto found = moved.find(row->trial.key);
    const double relative_width = (row->seconds.high - row->seconds.low) / row->seconds.middle;
    return std::pair(found == moved.end() ? 2 : found->second, -relative_width);
  });
  return out;
}

Plot sizes_plot(const BreakEven& row) {
  std::vector<PlottedSize> points;
  for (const BreakEvenSize& one : row.points) {
    points.push_back({.title = one.extents + ": " + speedup_text(one.ratio) + " against " + row.rival,
                      .bytes = one.bytes,
                      .ratio = one.ratio});
  }
  return sizes_plot("Speed-up by size of " + name_of(row), points);
}

std::string name_of(const BreakEven& row) {
  return row.operation + (row.kind.empty() ? "" : " " + row.kind) + ", " + row.trial + " against " +
         row.rival;
}

}  // namespace assay
