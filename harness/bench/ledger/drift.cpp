#include "bench/ledger/drift.hpp"

#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace assay {

std::optional<Estimate> estimate_of(const ComparedRow& row) {
  const bool selected = row.unselected_launches > 0;
  const Interval& ratio = selected ? row.unselected : row.ratio;
  const std::size_t launches = selected ? row.unselected_launches : row.launches;
  if (!(ratio.low > 0) || !std::isfinite(ratio.high) || ratio.basis != Basis::launches) return std::nullopt;
  Estimate out{.log_ratio = std::log(ratio.middle), .deviation = row.spread, .launches = launches};
  if (ratio.low == ratio.high && ratio.coverage > 0) return out;
  if (launches < 2 || ratio.coverage <= 0 || ratio.coverage >= 1) return std::nullopt;
  const double half_width = std::log(ratio.high / ratio.low) / 2;
  const double quantile = student_quantile((1 - ratio.coverage) / 2, static_cast<int>(launches) - 1);
  out.deviation = std::hypot(half_width / quantile, row.spread);
  return out;
}

void DriftSum::add(const Estimate& estimate) {
  log_ratio += estimate.log_ratio;
  ++terms;
  if (estimate.deviation == 0) return;
  const double square = estimate.deviation * estimate.deviation;
  variance += square;
  doubt += square * square / std::max(1.0, static_cast<double>(estimate.launches) - 1);
}

double DriftSum::low(double tail) const {
  if (variance == 0) return log_ratio;
  const int freedom = std::max(1, static_cast<int>(std::min(1e6, variance * variance / doubt)));
  return log_ratio - student_quantile(tail, freedom) * std::sqrt(variance);
}

Interval DriftSum::interval(double coverage) const {
  const double below = log_ratio - low((1 - coverage) / 2);
  return exponential({log_ratio - below, log_ratio, log_ratio + below, coverage});
}

DriftSum sum_of(std::span<const Step> steps, std::string_view key) {
  DriftSum out;
  for (const Step& step : steps) {
    const auto row = step.rows.find(std::string(key));
    if (row != step.rows.end()) out.add(row->second);
  }
  return out;
}

}  // namespace assay
