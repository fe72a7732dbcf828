/// Results from a script instead of a clock, for tests of standings.
#pragma once

#include "assay/compare.hpp"
#include "assay/random.hpp"

#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

namespace assay::scripted {

/// The spread of times around their true value, as deviations of the logarithm.
struct Noise {
  double run = 0;           ///< the whole run is off by up to this much, all rows alike
  double drift = 0;         ///< of single launches, all rows alike
  double row_in_run = 0;    ///< of one row for a whole run: placement of its code and pages
  double launch = 0;        ///< of one row in one launch
  double slice = 0;         ///< of a slice
  double bad_launches = 0;  ///< share of launches of a row that take 1.3 times as long
  double bad_slices = 0;    ///< share of slices that take 3 times as long: an interrupt
};

inline double normal(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.unit())) * std::cos(2 * std::numbers::pi * rng.unit());
}

/// A suite of `cases` cases with these variants. A row takes 10 us times its factor in `changed`,
/// if it has one.
struct Script {
  std::size_t cases = 1;
  std::vector<std::string> variants{"naive", "packed", "simd"};
  std::map<std::string, double> changed;
  std::size_t launches = 6, slices = 15;
  Noise noise;
};

inline std::string key(std::size_t case_number, const std::string& variant) {
  return "gemm/" + variant + "/m=" + std::to_string(case_number) + "#1";
}

inline Results results(const Script& script, Rng& rng) {
  Results out{.suite = "scripted",
              .machine = {.key = "scripted_2", .facts = {{"processor", "scripted", true}}}};
  const Noise& noise = script.noise;
  const double run = std::log1p(noise.run) * rng.uniform(-1, 1);
  std::vector<double> drifts;
  for (std::size_t l = 0; l < script.launches; ++l) drifts.push_back(noise.drift * normal(rng));
  for (std::size_t c = 0; c < script.cases; ++c) {
    for (const std::string& variant : script.variants) {
      const std::string problem = "m=" + std::to_string(c);
      TrialResult trial{.key = key(c, variant), .operation = "gemm", .variant = variant, .problem = problem};
      const auto factor = script.changed.find(trial.key);
      const double row = std::log(1e-5 * (factor == script.changed.end() ? 1 : factor->second)) +
                         noise.row_in_run * normal(rng);
      for (std::size_t l = 0; l < script.launches; ++l) {
        double in_launch = row + run + drifts[l] + noise.launch * normal(rng);
        if (rng.unit() < noise.bad_launches) in_launch += std::log(1.3);
        Launch launch;
        for (std::size_t s = 0; s < script.slices; ++s) {
          double log = in_launch + noise.slice * normal(rng);
          if (rng.unit() < noise.bad_slices) log += std::log(3.0);
          launch.push_back({.seconds = std::exp(log), .cpu_seconds = std::exp(log), .calls = 10});
        }
        trial.launches.push_back(std::move(launch));
      }
      out.trials.push_back(std::move(trial));
    }
  }
  return out;
}

inline Baseline baseline(std::vector<Results> recordings) {
  Baseline out{.suite = "scripted", .machine_key = "scripted_2"};
  for (Results& one : recordings) out.recordings.push_back({"scripted", std::move(one)});
  return out;
}

}  // namespace assay::scripted
