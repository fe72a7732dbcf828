#include "core/machine/doctor.hpp"

#include "core/machine/clock.hpp"
#include "core/machine/roofline.hpp"
#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace assay {
namespace {

// Returns a quantile of the distances from 0; 0 when there are none.
double quantile_of_magnitudes(std::vector<double> values, double probability) {
  if (values.empty()) return 0;
  for (double& value : values) value = std::abs(value);
  return quantile(values, std::clamp(probability, 0.0, 1.0));
}

using Clock = std::chrono::steady_clock;

// Slices of 0.1 to 0.3 ms were equally steady where this was tried, slices of 1 ms two to three times worse;
// groups of 30 to 60 ms tell most per second.
constexpr double slice_seconds = 0.2e-3;
constexpr int quads_per_group = 50;

// A stream cut into slices of equal work.
class Sliced {
 public:
  explicit Sliced(double bytes) : stream_(bytes) {
    while (slice() < slice_seconds / 2) steps_ *= 2;
    std::vector<double> taken;
    for (int i = 0; i < 9; ++i) taken.push_back(slice());
    const double scale = slice_seconds / quantile(taken, 0.25);
    steps_ = std::max<Index>(1, std::llround(static_cast<double>(steps_) * scale));
  }

  // Seconds of one slice.
  double slice() {
    const auto start = Clock::now();
    stream_.advance(steps_);
    return seconds_since(start);
  }

 private:
  Stream stream_;
  Index steps_ = 1;  // per slice
};

// Returns the logarithm of the ratio of a group, as a launch of a gate would report it for two equal builds.
double deviation_of_group(Sliced& stream) {
  std::array<std::vector<double>, 2> sides;
  for (int quad = 0; quad < quads_per_group; ++quad) {
    const bool flip = quad % 2 != 0;  // ABBA, then BAAB
    for (const bool second : {flip, !flip, !flip, flip}) sides[second ? 1 : 0].push_back(stream.slice());
  }
  // Lower quartiles, since a disturbance only lengthens a slice.
  return std::log(quantile(sides[0], 0.25) / quantile(sides[1], 0.25));
}

}  // namespace

double smallest_visible_change(const std::vector<double>& deviations) {
  constexpr int groups = 30;
  constexpr double margin = 0.01, level = 0.01 / 100, power = 0.95;
  const double p = needed_chance(needed_count(groups, level), groups, power);
  return std::expm1(std::log1p(margin) + quantile_of_magnitudes(deviations, 2 * p - 1));
}

double spread_of(const std::vector<double>& deviations) {
  return std::expm1(quantile_of_magnitudes(deviations, 0.95));
}

// One kernel timed against itself, in the same alternation that a gate uses.
NoiseProbe probe_noise(double seconds) {
  const WeatherStation station;
  const auto levels = roof_levels(this_machine(), 1);
  std::array streams{Sliced(levels.front().bytes_per_thread), Sliced(levels.back().bytes_per_thread)};
  // Fewer than eight groups would make every quantile the largest value.
  constexpr std::size_t least_groups = 8;
  std::array<std::vector<double>, 2> deviations;
  const auto start = Clock::now();
  while (deviations[0].size() < least_groups || seconds_since(start) < seconds) {
    // Streams take turns, so that both kernels see the same stretch of weather.
    for (std::size_t i = 0; i < streams.size(); ++i) deviations[i].push_back(deviation_of_group(streams[i]));
  }
  NoiseProbe out;
  // The noisier of the two kernels counts: a suite has kernels of both kinds.
  for (const auto& of_kernel : deviations) {
    out.spread = std::max(out.spread, spread_of(of_kernel));
    out.smallest_visible = std::max(out.smallest_visible, smallest_visible_change(of_kernel));
  }
  out.weather = station.since();
  return out;
}

}  // namespace assay
