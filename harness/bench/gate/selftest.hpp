/// Tests a gate of two builds on this machine with known answers: a program against a copy of itself, and
/// with slow-downs of known size planted in it.
#pragma once

#include "bench/gate/two_builds.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// The resource that bounds a trial, by its contract's counts.
enum class Bound { memory, compute };
std::string_view to_string(Bound bound);
/// Compute from 4 FLOPs per byte on: what a core of today needs to keep its arithmetic busy from its second
/// cache.
Bound bound_of(const Cost& cost);

/// One planted slow-down: by how much, in what, and what the gate said.
struct Plant {
  std::string key;
  Bound bound = Bound::memory;
  double slowdown = 0;  ///< 0.03 for 3 % more time
  Standing found = Standing::undecided;
  Interval ratio;  ///< as the gate estimated it
};

/// One run of the gate.
struct SelfTestRun {
  std::vector<Plant> plants;        ///< none in a run of the program against itself
  std::vector<std::string> alarms;  ///< trials called slower that were not planted
  std::string unfit;
  std::size_t trials = 0, undecided = 0;  ///< counts of trials that were not planted
  double seconds = 0;
  /// The smallest slow-down, as a ratio, that half of its trials would have shown; none where fewer would
  /// have shown any, however large, for want of launches.
  std::optional<double> typical_visible;
  Weather weather;
};

struct SelfTest {
  std::string suite, commit, date, command;
  Machine machine;
  bool busy = false;               ///< another process kept one core busy meanwhile
  double empty_slice_seconds = 0;  ///< what a slice of a kernel that does nothing takes
  double slice_seconds = 0;
  std::string raw_hash;  ///< FNV-1a of the file with all samples; empty when none was kept
  std::vector<SelfTestRun> runs;
  std::vector<double> asked;        ///< slow-downs that were to be planted; empty where that is not known
  std::vector<std::string> failed;  ///< trials that crashed or hung, and how
  std::size_t interrupted = 0;      ///< gates that were left out, since they were not finished
};

/// One trial for each size and bound, all different, drawn from those of the run with one thread that exist
/// in it. A bound of which the suite has too few trials gets fewer sizes: those that follow the ones it had
/// in the turn before, so that each has its share of the runs. `turn` counts them from 0.
std::vector<Plant> drawn_plants(const std::vector<PairedTrial>& trials,
                                const std::map<std::string, Cost>& costs,
                                const std::vector<double>& slowdowns, std::size_t turn, Rng& rng);

/// Tallies the outcome of a run with these plants.
SelfTestRun tallied(const TwoBuilds& run, std::vector<Plant> plants);

/// Why the test says nothing of the gate: no run was finished, none was fit, or none decided anything. Empty
/// when it does say something.
std::string why_nothing_is_shown(const SelfTest& test);

/// For the terminal and for a file: the same Markdown, readable as text.
std::string selftest_markdown(const SelfTest& test);

}  // namespace assay
