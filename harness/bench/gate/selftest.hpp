/// Tests a gate of two builds on this machine with known answers: a program against a copy of itself, and
/// with slow-downs of known size planted in it.
#pragma once

#include "assay/suite.hpp"
#include "bench/gate/rejected_trials.hpp"
#include "bench/gate/two_builds.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// The resource that bounds a trial, by its contract's counts.
enum class Bound { memory, compute };
std::string_view to_string(Bound bound);

/// A planted slow-down: its trial, its size, and the standing that the gate gave it.
struct Plant {
  std::string key;
  Bound bound = Bound::memory;
  double slowdown = 0;  ///< 0.03 for 3 % more time
  Standing found = Standing::undecided;
  Interval ratio;  ///< as the gate estimated it
};

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
  std::string raw_hash;  ///< FNV-1a of all finished gates, as lines; empty when nobody keeps them
  std::vector<SelfTestRun> runs;
  std::vector<double> asked;  ///< slow-downs that were to be planted; empty where that is not known
  /// Trials that crashed, hung, disagreed or were impossibly fast, and were left out from then on; each once.
  std::vector<Finding> faults;
  std::size_t interrupted = 0;  ///< gates that were left out, since they were not finished
};

struct SelfTestRequest {
  Suite suite;
  std::string filter;
  std::filesystem::path program;  ///< is compared with itself
  Description description;        ///< that the program gives of itself, for the cases of the suite
  std::uint64_t seed = 42;
  int runs = 0, planted_runs = 0;
  std::vector<double> plants;                         ///< slow-downs of the planted runs
  double budget_seconds = 0;                          ///< of each gate
  double time_limit = 0;                              ///< see TurnPolicy
  bool busy = false;                                  ///< keep one core busy meanwhile
  std::string command;                                ///< repeats it
  std::function<void(const std::string& line)> keep;  ///< gets each finished gate, in one line
  std::function<PairedSample(PairedPrograms, const Hooks&)> launches = paired_launches;
  MeasureRoof roof = roof_of_one_thread(this_machine());
};

/// Runs gates without plants, then with plants, until the user interrupts; an interrupted gate does not
/// count. What was at fault in one is not tried in the next. Throws Error when the filter selects nothing.
SelfTest run_selftest(const SelfTestRequest& request, const Registry& registry, const Hooks& hooks);

/// Lines that SelfTestRequest::keep got, of one self-test or several, behind the name of their file.
using KeptGates = std::pair<std::string, std::string>;

/// Judges gates anew by the rules of this program. Throws Error naming the file and the line at fault, and
/// for a file without any gate, or with the gates of another one: samples that counted twice would make every
/// interval too narrow.
SelfTest judged_anew(std::span<const KeptGates> files, const Registry& registry);

/// One trial for each size and bound, all different, drawn from those of the run with one thread that exist
/// in it. A bound of which the suite has too few trials gets fewer sizes: those that follow the ones it had
/// in the turn before, so that each has its share of the runs. `turn` counts them from 0.
std::vector<Plant> drawn_plants(const std::vector<PairedTrial>& trials,
                                const std::map<std::string, Cost>& costs,
                                const std::vector<double>& slowdowns, std::size_t turn, Rng& rng);

SelfTestRun tallied(const TwoBuilds& run, std::vector<Plant> plants);

/// Why the test says nothing of the gate: no run was finished, none was fit, or none decided anything. Empty
/// when it does say something.
std::string why_nothing_is_shown(const SelfTest& test);

/// For the terminal and for a file: the same Markdown, readable as text.
std::string selftest_markdown(const SelfTest& test);

}  // namespace assay
