#include "training/epoch/calibration.hpp"

#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

namespace assay {
namespace {

/// Fewer pages than this share may be missing and not be seen: a file has its header, which is always read.
constexpr double unseen = 1e-3;

/// Seconds of making the batch of each step, windows one after the other: the time of a worker, or of
/// the loop where it loads itself. Empty where that is not known step by step.
std::vector<double> load_seconds(const Job& job) {
  const bool workers = job.loader.workers.value_or(0) > 0;
  std::vector<double> out;
  for (const StepPhase& phase : job.phases) {
    if (phase.scope != Scope::training || phase.kind != PhaseKind::load || phase.overlaps != workers)
      continue;
    if (!out.empty()) return {};  // several phases, which would have to be added
    out = phase.seconds;
  }
  return out;
}

bool is_cold(const TimedWindow& window) {
  return window.cache == PageCache::cold && window.resident_before && window.resident_after;
}

double rate_of(const TimedWindow& window) {
  const double before = std::max(unseen, 1 - *window.resident_before);
  const double after = std::max(unseen, 1 - *window.resident_after);
  return std::max(0.0, std::log(before / after) / static_cast<double>(window.steps));
}

/// The missing pages that the batches of a window met, in batches that met none in memory.
double met(const TimedWindow& window, double rate) {
  double out = 0;
  for (Index i = 0; i < window.steps; ++i) out += std::exp(-rate * static_cast<double>(i));
  return out * (1 - *window.resident_before);
}

Interval mean_of_runs(const std::vector<double>& runs) {
  std::vector<Group> groups;
  for (const double one : runs) groups.push_back({1, one});
  Interval out = sum_of_steps(spread_of(groups), 1);
  // The interval of the mean of all runs, not of another run.
  const double half = (out.high - out.middle) / std::sqrt(1 + static_cast<double>(runs.size()));
  out.low = std::max(0.0, out.middle - half);
  out.high = out.middle + half;
  return out;
}

}  // namespace

std::optional<ColdPages> cold_pages_of(const Job& job) {
  const std::vector<double> loads = load_seconds(job);
  Index steps = 0, cold_steps = 0, warm_steps = 0;
  double rates = 0, warm = 0;
  for (const TimedWindow& window : job.windows) {
    const auto of_window = std::span(loads).subspan(std::min(loads.size(), static_cast<std::size_t>(steps)));
    steps += window.steps;
    if (steps > std::ssize(loads)) return std::nullopt;
    if (is_cold(window)) {
      rates += static_cast<double>(window.steps) * rate_of(window);
      cold_steps += window.steps;
    } else if (window.cache == PageCache::warm) {
      const auto mine = of_window.first(static_cast<std::size_t>(window.steps));
      warm = std::accumulate(mine.begin(), mine.end(), warm);
      warm_steps += window.steps;
    }
  }
  if (cold_steps == 0 || warm_steps == 0 || steps != std::ssize(loads)) return std::nullopt;
  ColdPages out{.extra = {}, .rate = rates / static_cast<double>(cold_steps)};
  const double warm_batch = warm / static_cast<double>(warm_steps);
  std::vector<double> extras;
  auto at = loads.begin();
  for (const TimedWindow& window : job.windows) {
    const auto end = at + static_cast<std::ptrdiff_t>(window.steps);
    if (is_cold(window) && met(window, out.rate) > 0) {
      const double more = std::accumulate(at, end, 0.0) - static_cast<double>(window.steps) * warm_batch;
      extras.push_back(std::max(0.0, more / met(window, out.rate)));
    }
    at = end;
  }
  if (extras.empty()) return std::nullopt;
  out.extra = mean_of_runs(extras);
  return out;
}

}  // namespace assay
