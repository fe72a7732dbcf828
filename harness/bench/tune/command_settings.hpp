/// Settings of somebody else's command: each is started once, stopped, and continued in short turns.
#pragma once

#include "assay/hooks.hpp"
#include "assay/results.hpp"
#include "bench/gate/wrapped_commands.hpp"
#include "core/files/child_process.hpp"
#include "core/machine/limits.hpp"
#include "core/tune/turns.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

/// Settings to try: `--vary workers=0,1,2` fills {workers} in the command, `--vary env:NAME=1,2` sets a
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
  /// Of a step: the value of `batch`, `batch_size` or `bs`, else 1. 0: not known, since a setting with
  /// `batch` or `accum` in its name may change it as well.
  double samples = 1;
};

/// The present setting first, then every other combination. Throws Error naming the option of a value, a name
/// in braces that nothing varies, and a name that is varied and does not occur.
std::vector<CommandSetting> settings_of(const CommandRequest& request);

/// A step of a command, as it streams or prints it.
struct TimedStep {
  double seconds = 0, wait = 0, samples = 1;
  bool is_validation = false, is_first = false;  ///< of an epoch, with its start-up
  void add(const TimedStep& other) {
    seconds += other.seconds;
    wait += other.wait;
    samples += other.samples;
  }
};
/// The lines of $ASSAY_STEPS, as assay.timed() writes them.
struct StepStream {
  std::string writer;                ///< the process that wrote those so far
  double train = 0, validation = 0;  ///< samples of an epoch; 0: not known
  /// Passes over lines that are none. Throws Error naming the setting where another process writes as well.
  std::vector<TimedStep> take(const std::string& lines, const std::string& setting);
};

struct CommandPolicy {
  double budget_seconds = 300;
  std::uint64_t seed = 42;
  bool fresh = false;                  ///< start each setting anew in every turn
  CommandTiming timing{.each = true};  ///< its `match`, where the command streams no steps
  ReadFile read = try_read;            ///< what tells the memory that is left
  std::size_t family = 0;              ///< settings beside the present one, in all shards
};

/// The candidates of settings, with twice the present one: the second, its twin, is the control of all.
std::vector<Candidate> candidates_of(const std::vector<CommandSetting>& settings);

/// Times the seconds per sample of each candidate in turns, in a drawn order, within the budget: of the steps
/// that assay.timed() streams, else of the last number of each line that matches, else of whole runs. The
/// first steps of every turn are dropped, as many in each setting. A setting that crashes, hangs, goes on
/// while it is stopped or says what cannot be used is left out with the reason. While little memory is left,
/// fewer are kept. Says how it measured. Ends all that it started. Throws Error where this is the present
/// setting, where `match` does not tell the seconds of a sample, or where the budget is too short.
std::string measure_commands(const std::vector<CommandSetting>& settings, std::vector<Candidate>& candidates,
                             const CommandPolicy& policy, const Hooks& hooks);

/// Runs the present and another setting that was chosen to their ends, for so many seconds each at most, or
/// three epochs as expected. Returns their seconds; where one fails or the chosen one is slower, the ruling
/// becomes undecided instead, with these as its doubt. Throws Stopped.
std::string confirm(const std::vector<CommandSetting>& settings, TuneRuling& ruling, double most,
                    const Hooks& hooks);

/// Leaves the present setting and every so many-th other. Scripts that the command names become a fact of the
/// build, in which all shards have to agree. Throws Error for more shards than settings.
ShardRecord keep_shard(std::vector<CommandSetting>& settings, const Shard& shard, Circumstances& made);

/// Results of a shard, which are merged as those of a run: a case is a setting, its variants are the setting,
/// its control and the present one, and a slice is a turn. The suite has this name.
Results results_of(const TuneRecord& record, const ShardRecord& shard);
inline constexpr std::string_view settings_suite = "settings of a command";
/// The candidates of merged shards. Times are ratios to the present setting of the same turn and shard, on
/// whatever machine. Throws Error naming the trial that has none.
std::vector<Candidate> candidates_of(const Results& results);

}  // namespace assay
