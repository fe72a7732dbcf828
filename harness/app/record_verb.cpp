#include "app/ledger_use.hpp"
#include "app/measuring.hpp"
#include "app/output.hpp"
#include "app/verb_functions.hpp"
#include "assay/compare.hpp"
#include "assay/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {

int record_verb(const RecordOptions& options, const Registry& registry) {
  const RunRequest request = run_request({.suite = options.suite,
                                          .filter = "",
                                          .threads = options.threads,
                                          .seed = options.seed,
                                          .time_limit = options.time_limit},
                                         options.launches, registry);
  const Machine machine = this_machine();
  const auto file = baseline_path(options.baselines.front(), machine.key, request.suite.name);
  const auto stored = [&] {
    auto found = load_baseline(file);
    if (found && !options.replace) return *std::move(found);
    return Baseline{.suite = request.suite.name, .machine_key = machine.key};
  };
  stored();  // a baseline that cannot be read must not cost the user a measurement
  Results results = run_with_progress(registry, request);
  const std::string json = to_json(results);
  const Ending ending = ending_of(results);
  std::string text = to_table(results);
  const bool disagrees = std::ranges::any_of(
      results.trials, [](const TrialResult& trial) { return !trial.agreement.agrees && !trial.failure; });
  const bool measured =
      std::ranges::any_of(results.trials, [](const TrialResult& trial) { return !trial.launches.empty(); });
  // A kernel that crashed has no row, and takes none from the others.
  const bool recordable =
      ending.code == exit_code::passed || (ending.code == exit_code::crashed && !disagrees && measured);
  if (!recordable) {
    put(options.json, text + ending.text + "; nothing was recorded\n", json);
    return ending.code;
  }
  // Another job may have recorded meanwhile.
  Baseline baseline = stored();
  const std::size_t trials = results.trials.size();
  baseline.recordings.push_back({.reason = options.reason, .results = std::move(results)});
  save_baseline(file, baseline);
  text += fmt::format("next: assay gate --suite {}\n",
                      suite_in_commands(options.suite.string(), options.baselines, {}));
  text += fmt::format("RECORDED: {} trials as recording {} of {}\n", trials, baseline.recordings.size(),
                      file.string());
  if (!ending.text.empty()) text += ending.text + "\n";
  put(options.json, text, json);
  return ending.code;
}

}  // namespace assay
