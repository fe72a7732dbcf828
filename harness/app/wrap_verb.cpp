#include "app/gate_outcome.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/sharding.hpp"
#include "app/verb_functions.hpp"
#include "assay/compare.hpp"
#include "core/machine/clock.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/command.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace assay {
namespace {

WrappedCommand as_typed(const std::vector<std::string>& words) {
  std::vector<std::string> typed;
  for (const std::string& word : words) typed.push_back(shell_word(word));
  return {words, fmt::format("{}", fmt::join(typed, " "))};
}

/// Says what was measured under one name, and which slow-down a gate would see.
std::string text_of(const TrialResult& trial, const CommandOptions& options, double run_seconds) {
  std::vector<double> runs;
  for (const Launch& launch : trial.launches) runs.push_back(median(seconds_of(launch)));
  const double visible =
      visible_in_gate(trial, run_seconds, policy_with(usual_limit_of_programs), options.budget_seconds);
  return fmt::format("{}  {}  {} runs, from {} to {}\n  a gate of {} {}\n", trial.problem,
                     seconds_text(time_of(trial)), runs.size(), seconds_text(std::ranges::min(runs)),
                     seconds_text(std::ranges::max(runs)), seconds_text(options.budget_seconds),
                     visible > 0 ? fmt::format("would see a slow-down of {}", percent_text(visible - 1))
                                 : "would see nothing, or these runs are too few to say what");
}

}  // namespace

Outcome commands_verb(const CommandsOptions& options) {
  const ProgramsOptions& programs = options.programs;
  say_undivided("commands");
  CommandsOptions repeated = options;
  repeated.programs.filter.clear();
  return measured_and_ended(programs.outcome, [&](const Hooks& hooks) {
    return gate_of_commands(shell_command(programs.base), shell_command(programs.head), options.timing,
                            new_run(programs, command_of("wrap", repeated), usual_limit_of_programs), hooks);
  });
}

Outcome command_verb(const CommandOptions& options) {
  const WrappedCommand command = as_typed(options.command);
  Results results{.machine = this_machine(),
                  .commit = "unknown",
                  .date = utc_now(),
                  .command = command_of("wrap", options)};
  {
    Progress progress(options.quiet);
    measure_command(results, command, options.timing, options.launches, options.budget_seconds,
                    progress.hooks());
  }
  std::size_t runs = 0;
  for (const TrialResult& trial : results.trials) runs = std::max(runs, trial.launches.size());
  std::string text;
  for (const TrialResult& trial : results.trials) {
    text += text_of(trial, options, results.weather.seconds / static_cast<double>(runs));
  }
  const std::string next = options.output.empty()
                               ? "-o before.json keeps the runs, for  assay compare before.json after.json"
                               : "";
  const Outcome outcome{results.partial ? Word::interrupted : Word::measured,
                        fmt::format("{} runs of `{}`; nothing was compared", runs, command.text)};
  put(options.json, options.quiet ? ending("", outcome) : text + ending(next, outcome), to_json(results));
  if (!options.output.empty()) write_file(options.output, to_json(results) + "\n");
  return outcome;
}

}  // namespace assay
