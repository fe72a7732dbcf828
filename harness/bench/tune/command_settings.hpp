/// Settings of a command that somebody else wrote: each is started once, stopped, and continued in short
/// turns.
#pragma once

#include "assay/hooks.hpp"
#include "bench/gate/wrapped_commands.hpp"
#include "core/files/child_process.hpp"
#include "core/tune/turns.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

/// What is tried: `--vary workers=0,1,2` fills {workers} in the command, and `--vary env:NAME=1,2` sets a
/// variable.
struct CommandRequest {
  std::vector<std::string> command;  ///< words, with names of values in braces
  std::vector<std::string> vary;     ///< as `workers=0,1,2`
  std::string present;               ///< `workers=0,batch=32`; the first value of each where it does not say
  std::vector<std::string> except;   ///< combinations that are not tried: `workers=4,batch=64`
};

struct CommandSetting {
  Command command;
  Variables environment;
  std::string values;         ///< `workers=0, batch=32`
  std::vector<double> price;  ///< fewer workers are cheaper
};

/// The present setting first, then every other combination. Throws Error naming the option of a value, a name
/// in braces that nothing varies, and a name that is varied and does not occur.
std::vector<CommandSetting> settings_of(const CommandRequest& request);

/// A step of a command, as it streams or prints it.
struct TimedStep {
  double seconds = 0, wait = 0, samples = 1;
  bool is_validation = false, is_first = false;  ///< of an epoch, with its start-up
};
/// The lines of $ASSAY_STEPS, as assay.timed() writes them.
struct StepStream {
  std::string writer;  ///< the process that wrote those so far
  double train = 0;    ///< samples of an epoch; 0: not known
  /// Passes over lines that are none. Throws Error naming the setting where another process writes as well.
  std::vector<TimedStep> take(const std::string& lines, const std::string& setting);
};

struct CommandPolicy {
  double budget_seconds = 300;
  std::uint64_t seed = 42;
  bool fresh = false;    ///< start each setting anew in every turn
  CommandTiming timing;  ///< its `match`, where the command streams no steps
};

/// The candidates of settings, with twice the present one: the second, its twin, is the control of all.
std::vector<Candidate> candidates_of(const std::vector<CommandSetting>& settings);

/// Times the seconds per sample of each candidate in turns, in a drawn order, within the budget: of the steps
/// that assay.timed() streams, else of the last number of each line that matches, else of whole runs. The
/// first steps of every turn are dropped, as many in each setting. A setting that crashes, hangs or goes on
/// while it is stopped is left out with the reason. Says how it measured. Ends all that it started. Throws
/// Error where this is the present setting, or where the budget is too short for the fewest rounds.
std::string measure_commands(const std::vector<CommandSetting>& settings, std::vector<Candidate>& candidates,
                             const CommandPolicy& policy, const Hooks& hooks);

/// Runs a setting to its end, and returns its seconds. Throws Error where it fails.
double whole_run(const CommandSetting& setting, const Hooks& hooks);

}  // namespace assay
