/// Any command as a side of a gate, or measured by itself: by its time, or by a number that it prints.
#pragma once

#include "assay/results.hpp"
#include "bench/gate/two_builds.hpp"

#include <functional>
#include <string>
#include <vector>

namespace assay {

/// A command as it is started, and as the user wrote it.
struct WrappedCommand {
  std::vector<std::string> words;
  std::string text;
};

WrappedCommand shell_command(const std::string& line);

enum class PrintedUnit { as_printed, seconds, milliseconds, microseconds, nanoseconds };

struct CommandTiming {
  std::string name;        ///< of the command in results; empty: the name of its program
  bool processor = false;  ///< processor time of the command and its children, instead of wall time
  /// Instead of either time: a regular expression of ECMAScript, which is searched for in each line that the
  /// command prints. One group is the number; of two groups, the first is a name and the second the number.
  /// The last match of the last line that has one counts, for each name.
  std::string match;
  PrintedUnit unit =
      PrintedUnit::as_printed;  ///< of that number; as_printed: the unit that follows it, else s
  bool rate = false;            ///< the number is a rate, in 1/s: more is better
  bool each = false;            ///< that of each line counts, and not the last alone
  double time_limit = 0;        ///< seconds that a run may take; 0: derived from the first run
  int warmups = 1;              ///< runs of each side that are not counted
  std::string setup;            ///< a line of a shell, once before all runs
  std::string prepare;          ///< likewise, before each run
  bool cold = false;            ///< the pages of the files that a command names are dropped before each run
};

/// Reads the numbers that a command printed, as seconds. Throws Error naming the command if there is none,
/// but where each counts, or if one is not above 0.
ReportedTimes printed_times(const std::string& output, const CommandTiming& timing,
                            const std::string& command);

/// Runs base, head and base again within the budget of `run`: all at once on one core where the first runs
/// show that the commands do nothing but compute, which is processor time then; else one after the other, in
/// an order that is drawn. `run` has the names of the sides, machine, date, seed, command, filter and policy.
/// `chosen` may leave trials out before they are sampled. Throws Error naming a command that cannot be
/// started, fails, does not end in time or prints no number, and Stopped.
TwoBuilds gate_of_commands(const WrappedCommand& base, const WrappedCommand& head,
                           const CommandTiming& timing, TwoBuilds run, const Hooks& hooks,
                           const std::function<void(TwoBuilds&)>& chosen = {});

/// Measures one command into `results`, which already has machine, date and command: each run is a launch.
/// Throws Error and Stopped likewise; an interrupt after the first counted run leaves partial results.
void measure_command(Results& results, const WrappedCommand& command, const CommandTiming& timing,
                     int launches, double budget_seconds, const Hooks& hooks);

/// Estimates the smallest slow-down, as a ratio, that a gate of this command would see within the budget,
/// from the differences between neighbouring runs of `run_seconds` each. Returns 0 for too few runs.
double visible_in_gate(const TrialResult& trial, double run_seconds, const SequentialPolicy& policy,
                       double budget_seconds);

}  // namespace assay
