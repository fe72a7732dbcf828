/// Any two programs that were built with Google Benchmark, gated against each other. Such a program times by
/// itself, so that its slices cannot be handed turns; bench/README.md says which sides share a core instead.
#pragma once

#include "bench/gate/two_builds.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// The answer of a program that was asked for its benchmarks.
struct BenchmarkProgram {
  std::filesystem::path program;
  std::vector<std::string> arguments;   ///< before those of Google Benchmark
  std::vector<std::string> benchmarks;  ///< in the order in which they run
  /// Behind seconds in --benchmark_min_time: Google Benchmark 1.7 takes none, later versions may ask for "s".
  std::string seconds_suffix;
  bool runs_copied = true;     ///< a copy of the file runs elsewhere, too
  double startup_seconds = 0;  ///< until it has listed them
};

/// Seconds without the end of a benchmark after which a program is said to hang, unless a limit is given.
inline constexpr double usual_benchmark_limit = 60;

/// Asks a program with these arguments which benchmarks `filter`, an expression of Google Benchmark, selects.
/// Returns nothing when it is no such program. Throws Error when it cannot be started or does not answer, and
/// Stopped after an interrupt.
std::optional<BenchmarkProgram> asked(const std::filesystem::path& program,
                                      const std::vector<std::string>& arguments, const std::string& filter,
                                      const Hooks& hooks);

/// Whether two programs are equal in all that is loaded: only a build's name and what debuggers read differ.
/// False for scripts, and for programs that look for libraries beside themselves.
bool load_alike(const std::filesystem::path& base, const std::filesystem::path& head);

/// Throws Error naming the budget that start-ups of these sides and their benchmarks need, if `run` lacks it.
void require_time_for(const BenchmarkProgram& program, const TwoBuilds& run);

/// The lines of `listing` without those of `chatter`, which the program prints even when nothing is selected.
std::vector<std::string> names_in(const std::string& listing, const std::string& chatter);

/// Settings of a benchmark, which Google Benchmark appends to its name.
enum class BenchmarkClock { processor, real, manual };
struct BenchmarkSettings {
  BenchmarkClock clock = BenchmarkClock::processor;
  int threads = 1;
  bool whole_process = false;              ///< processor time of all threads, whoever made them
  double min_seconds = 0, iterations = 0;  ///< of a repetition, which no option changes; 0: options do
  int repetitions = 0;                     ///< likewise

  bool shares_core() const { return clock == BenchmarkClock::processor && threads == 1 && !whole_process; }
};
BenchmarkSettings settings_of(const std::string& name);

/// An expression that selects these benchmarks and no others.
std::string filter_of(const std::vector<std::string>& names);

/// The clocks by which these benchmarks are timed, in words.
std::string timing_of(const std::vector<PairedTrial>& trials);

/// Counters of benchmarks that are judged, each with its better direction.
using CounterDirections = std::map<std::string, Figure::Better>;

/// Returns the counters whose meaning is known, of memory managers and of processors, and those given, as
/// `hits=higher`. Throws Error naming the one given that says no direction.
CounterDirections directions_of(const std::vector<std::string>& given);

/// Reads the times in a results file, by the clock that each benchmark asked for, and the counters that have
/// a direction. If the program broke off, those of the benchmarks before that. Throws Error naming `where`.
ReportedTimes times_in(const std::string& results, const std::string& where,
                       const CounterDirections& directions = {});

/// Whether some sides were timed by a few cold calls, as where the first one took longer than a repetition
/// lasts, and others by as many as fill one of `repetition` seconds: they are no pair.
bool cold_beside_warm(const std::array<double, launch_sides>& sampled, double repetition);

/// Launches of base, head and a copy of the base, from fresh copies of their files. A benchmark that ends its
/// program, or with which nothing goes on for `time_limit` seconds, is left out, and the others go on.
/// Throws Error after the first launch where no benchmark reports one of the `counters` that the user named.
PairedSample benchmark_launches(BenchmarkProgram base, BenchmarkProgram head, double time_limit,
                                const std::vector<std::string>& counters, const Hooks& hooks);

}  // namespace assay
