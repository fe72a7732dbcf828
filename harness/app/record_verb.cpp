#include "app/measuring.hpp"
#include "app/output.hpp"
#include "app/verb_functions.hpp"
#include "assay/compare.hpp"
#include "assay/report.hpp"
#include "bench/compare/outcome_of.hpp"
#include "bench/ledger/stored_ledger.hpp"
#include "bench/report/content.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {

Outcome record_verb(const RecordOptions& options, const Registry& registry) {
  RunRequest request = run_request({.suite = options.suite,
                                    .filter = "",
                                    .threads = options.threads,
                                    .seed = options.seed,
                                    .time_limit = options.time_limit},
                                   options.launches, registry);
  request.measuring.strict = options.strict;
  const Machine machine = this_machine();
  const auto file = baseline_path(options.baselines.front(), machine.key, request.suite.name);
  const auto stored = [&] {
    auto found = load_baseline(file);
    if (found && !options.replace) return *std::move(found);
    return Baseline{.suite = request.suite.name, .machine_key = machine.key};
  };
  stored();  // a baseline that cannot be read must not cost the user a measurement
  Results results = run_with_progress(registry, request, options.quiet);
  const std::string json = to_json(results);
  const Outcome outcome = outcome_of(results);
  std::string text = options.quiet ? faults_text(results) : to_table(results);
  const bool measured =
      std::ranges::any_of(results.trials, [](const TrialResult& trial) { return !trial.launches.empty(); });
  // A kernel that crashed has no row, and takes none from the others.
  const bool crashed_only = outcome.word == Word::crashed && outcome.besides.empty();
  if (!measured || (outcome.word != Word::measured && !crashed_only)) {
    put(options.json, text + "nothing was recorded\n" + ending("", outcome), json);
    return outcome;
  }
  // Another job may have recorded meanwhile.
  Baseline baseline = stored();
  const std::size_t trials = results.trials.size();
  baseline.recordings.push_back({.reason = options.reason, .results = std::move(results)});
  save_baseline(file, baseline);
  const std::string next =
      fmt::format("assay gate --suite {}", suite_in_commands(options.suite.string(), options.baselines, {}));
  const Outcome recorded{Word::recorded, fmt::format("{} trials as recording {} of {}", trials,
                                                     baseline.recordings.size(), file.string())};
  // A crash weighs more, and is the outcome then.
  if (outcome.word != Word::measured) text += recorded.text();
  text += ending(options.quiet ? "" : next, outcome.word == Word::measured ? recorded : outcome);
  put(options.json, text, json);
  return outcome;
}

}  // namespace assay
