#include "app/measuring.hpp"

#include "app/progress.hpp"
#include "app/sharding.hpp"
#include "assay/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {

RunRequest run_request(const SelectionOptions& selection, int launches, const Registry& registry) {
  return {.suite = load_suite(selection.suite, registry),
          .selection = {.filter = selection.filter, .threads = selection.threads, .seed = selection.seed},
          .measuring = {.launches = launches, .seed = selection.seed, .time_limit = selection.time_limit},
          .checking = {.own_process = true, .time_limit = selection.time_limit},
          .command = command_of("run", RunOptions{.selection = selection, .launches = launches})};
}

Results run_with_progress(const Registry& registry, const RunRequest& request) {
  Progress progress;
  return run(registry, request, sample_in_new_process, progress.hooks());
}

std::string failures_text(const Results& results) {
  std::vector<std::string> reasons;
  for (const TrialResult& trial : results.trials) {
    if (trial.failure) reasons.push_back(fmt::format("{} {}", trial.key, trial.failure->reason));
  }
  return reasons.empty() ? "" : fmt::format("CRASHED: {}", fmt::join(reasons, "; "));
}

Ending ending_of(const Results& results) {
  std::vector<std::string> wrong;
  std::size_t measured = 0, ran = 0;
  for (const TrialResult& trial : results.trials) {
    if (trial.skipped.empty()) ++ran;
    if (!trial.launches.empty()) ++measured;
    const std::string name = trial.operation + "/" + trial.variant;
    if (!trial.agreement.agrees && !trial.failure && std::ranges::find(wrong, name) == wrong.end())
      wrong.push_back(name);
  }
  if (results.partial) {
    return {exit_code::interrupted,
            fmt::format("INTERRUPTED: {} of {} trials were measured", measured, results.trials.size())};
  }
  std::string disagreement;
  if (!wrong.empty()) {
    disagreement =
        fmt::format("WRONG: {} disagree{} with the oracle and {} not timed", fmt::join(wrong, ", "),
                    wrong.size() == 1 ? "s" : "", wrong.size() == 1 ? "was" : "were");
  }
  if (const std::string failed = failures_text(results); !failed.empty()) {
    return {exit_code::crashed, disagreement.empty() ? failed : disagreement + "\n" + failed};
  }
  if (!wrong.empty()) return {exit_code::found, disagreement};
  // Test runners start more shards than there may be cases, and take anything but success for a failure.
  if (results.shard && results.trials.empty()) return {exit_code::passed, nothing_to_do(*results.shard)};
  if (ran == 0) return {exit_code::all_skipped, "SKIPPED: nothing selected runs on this machine"};
  if (measured == 0) return {exit_code::undecided, "UNDECIDED: nothing was measured"};
  return {};
}

}  // namespace assay
