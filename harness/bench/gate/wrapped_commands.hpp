/// Any command as a side of a gate, or measured by itself: what it takes, or a number that it prints.
#pragma once

#include "assay/results.hpp"
#include "bench/gate/reported_times.hpp"

#include <string>
#include <vector>

namespace assay {

/// A command as it is started, and as the user wrote it.
struct WrappedCommand {
  std::vector<std::string> words;
  std::string text;
};

/// A line of a shell.
WrappedCommand shell_command(const std::string& line);

enum class PrintedUnit { as_printed, seconds, milliseconds, microseconds, nanoseconds };

struct CommandTiming {
  std::string name;        ///< of what is timed, in results; empty: the program's
  bool processor = false;  ///< processor time of the command and its children, instead of wall time
  /// Instead of either: an expression of ECMAScript that is searched for in each line which the command
  /// prints. Its group is the number, or of two groups the first a name and the second the number.
  std::string match;
  PrintedUnit unit =
      PrintedUnit::as_printed;  ///< of that number; as printed: by what stands behind it, else s
  bool rate = false;            ///< the number is one per time: more is better
  double time_limit = 0;        ///< seconds that a run may take; 0: by what the first one took
  int warmups = 1;              ///< runs of each side that are not counted
};

/// The numbers in what a command printed, as seconds. Throws Error naming the command where there is none,
/// and where one is no number above 0.
ReportedTimes printed_times(const std::string& output, const CommandTiming& timing,
                            const std::string& command);

/// Runs base, head and base again one after the other, in an order that is drawn, within the budget of `run`,
/// which has the names of the sides, machine, date, seed, command, filter and policy. Throws Error naming a
/// command that cannot be started, fails, does not end in time or prints no number, and Stopped.
TwoBuilds gate_of_commands(const WrappedCommand& base, const WrappedCommand& head,
                           const CommandTiming& timing, TwoBuilds run, const Hooks& hooks);

/// One command, with each run as a launch, in `results`, which has machine, date and command. Throws Error
/// and Stopped likewise; an interrupt after the first counted run leaves partial results.
void measure_command(Results& results, const WrappedCommand& command, const CommandTiming& timing,
                     int launches, double budget_seconds, const Hooks& hooks);

/// The smallest slow-down, as a ratio, that a gate of a command whose runs take so many seconds would see
/// within the budget, by how far runs beside each other lie apart; 0 with too few runs to tell.
double visible_in_gate(const TrialResult& trial, double run_seconds, const SequentialPolicy& policy,
                       double budget_seconds);

}  // namespace assay
