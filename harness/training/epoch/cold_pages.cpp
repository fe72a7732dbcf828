#include "training/epoch/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
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

}  // namespace

std::optional<ColdPages> cold_pages_of(const Job& job) {
  const std::vector<double> all = load_seconds(job);
  std::span<const double> left(all);
  std::vector<std::pair<const TimedWindow*, double>> cold;  // and the seconds of loading in it
  double cold_steps = 0, warm_steps = 0, rates = 0, warm = 0;
  for (const TimedWindow& window : job.windows) {
    if (window.steps > std::ssize(left)) return std::nullopt;
    const auto own = left.first(static_cast<std::size_t>(window.steps));
    left = left.subspan(own.size());
    const double seconds = std::accumulate(own.begin(), own.end(), 0.0);
    const auto steps = static_cast<double>(window.steps);
    if (is_cold(window)) {
      cold.emplace_back(&window, seconds);
      rates += steps * rate_of(window);
      cold_steps += steps;
    } else if (window.cache == PageCache::warm) {
      warm += seconds;
      warm_steps += steps;
    }
  }
  if (cold.empty() || warm_steps == 0 || !left.empty()) return std::nullopt;
  ColdPages out{.extra = {}, .rate = rates / cold_steps};
  std::vector<Group> runs;
  for (const auto& [window, seconds] : cold) {
    const double batches = met(*window, out.rate);
    const double more = seconds - static_cast<double>(window->steps) * warm / warm_steps;
    if (batches > 0) runs.push_back({1, std::max(0.0, more / batches)});
  }
  if (runs.empty()) return std::nullopt;
  // The interval of the mean of all runs, not of another run.
  out.extra = sum_of_steps(spread_of(runs), 1);
  const double half = (out.extra.high - out.extra.middle) / std::sqrt(1 + static_cast<double>(runs.size()));
  out.extra.low = std::max(0.0, out.extra.middle - half);
  out.extra.high = out.extra.middle + half;
  return out;
}

}  // namespace assay
