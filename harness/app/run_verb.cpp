// The verbs that measure a suite: run, and record, which keeps the results as a baseline.

#include "app/measuring.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verb_functions.hpp"
#include "assay/compare.hpp"
#include "assay/error.hpp"
#include "assay/report.hpp"
#include "bench/compare/words.hpp"
#include "bench/exchange/google_benchmark.hpp"
#include "bench/gate/two_builds.hpp"
#include "bench/ledger/ledger.hpp"
#include "bench/report/content.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace assay {
namespace {

Outcome list_keys(const Registry& registry, const RunRequest& request) {
  const Machine machine = this_machine();
  const auto plan = make_plan(registry, request.suite, request.selection, machine);
  if (plan.empty()) {
    const auto shard = shard_record(registry, request.suite, request.selection, machine);
    print_visible(stderr, "{}\n", in_words(*shard));
  }
  for (const Trial& trial : plan) {
    if (trial.skipped.empty()) print_visible(stdout, "{}\n", trial.key);
  }
  return {};
}

std::string in_benchmark_format(BenchmarkFormat format, const Results& results) {
  if (format == BenchmarkFormat::json) return google_benchmark_json(results);
  if (format == BenchmarkFormat::csv) return google_benchmark_csv(results);
  return google_benchmark_console(results);
}

void write_samples(const RunOptions& options, const Results& results) {
  const BenchmarkFlags& flags = options.benchmark;
  if (!options.output.empty()) write_file(options.output, to_json(results) + "\n");
  if (!flags.out.empty()) write_file(flags.out, in_benchmark_format(flags.out_format, results));
}

/// Reads the least seconds of a slice, `0.1s`, or the number of its calls, `100x`.
void apply_min_time(MeasurePolicy& policy, std::string_view text) {
  const char unit = text.back();
  const std::string_view digits = unit == 's' || unit == 'x' ? text.substr(0, text.size() - 1) : text;
  if (unit == 'x') {
    if (const auto calls = number_from<Index>(digits); calls && *calls >= 1) {
      policy.calls_per_slice = *calls;
      return;
    }
  } else if (const auto seconds = number_from<double>(digits); seconds && *seconds >= 0) {
    policy.slice_seconds = *seconds;
    policy.trial_seconds = std::max(policy.trial_seconds, *seconds * policy.slices);
    return;
  }
  throw Error("--benchmark_min_time", fmt::format("\"{}\" is not a finite number", text),
              "write 0.1s for seconds of a slice, or 100x for its calls");
}

RunRequest request_of(const RunOptions& options, const Registry& registry) {
  RunRequest out = run_request(options.selection, options.launches, registry);
  out.measuring.strict = options.strict;
  RunOptions whole = options;
  whole.shard = {};
  out.command = command_of("run", whole);
  const BenchmarkFlags& flags = options.benchmark;
  if (!flags.interleaving) {
    throw Error("--benchmark_enable_random_interleaving", "cannot be turned off",
                "trials are always sampled in mixed order");
  }
  if (flags.repetitions) out.measuring.slices = *flags.repetitions;
  if (!flags.min_time.empty()) apply_min_time(out.measuring, flags.min_time);
  out.selection.shard = shard_of_this_process(options.shard);
  out.selection.durations = durations_in(options.shard.durations);
  return out;
}

}  // namespace

Outcome run_verb(const RunOptions& options, const Registry& registry) {
  const RunRequest request = request_of(options, registry);
  const BenchmarkFlags& flags = options.benchmark;
  if (flags.list_tests) return list_keys(registry, request);

  const Results results = run(registry, request, sample_in_new_process, Progress(options.quiet).hooks());
  const Outcome outcome = outcome_of(results);
  if (flags.format != BenchmarkFormat::own) {
    print_visible(stdout, "{}", in_benchmark_format(flags.format, results));
    if (outcome.word != Word::measured) print_visible(stderr, "{}", outcome.text());
    write_samples(options, results);
    return outcome;
  }
  std::string text = results.trials.empty() ? std::string() : to_table(results);
  if (results.shard && !results.trials.empty()) text += in_words(*results.shard) + "\n";
  const std::string next =
      results.shard
          ? "when all shards are done, put them together with  assay merge SHARD.json ... -o ALL.json"
      : !options.output.empty()
          ? fmt::format("change the code, run again with another -o, then  assay compare {} AFTER.json",
                        options.output.string())
          : "-o before.json keeps the samples, for  assay compare before.json after.json";
  put(options.json, options.quiet ? faults_text(results) + ending("", outcome) : text + ending(next, outcome),
      to_json(results));
  write_samples(options, results);
  return outcome;
}

Outcome record_verb(const RecordOptions& options, const Registry& registry) {
  RunRequest request = run_request(options.selection, options.launches, registry);
  request.measuring.strict = options.strict;
  const Machine machine = this_machine();
  const auto file = baseline_path(options.baselines.front(), machine.key, request.suite.name);
  const auto stored = [&] {
    auto found = load_baseline(file);
    if (found && !options.replace) return *std::move(found);
    return Baseline{.suite = request.suite.name, .machine_key = machine.key};
  };
  stored();  // a baseline that cannot be read must not cost the user a measurement
  Results results = run(registry, request, sample_in_new_process, Progress(options.quiet).hooks());
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
  const std::string next = fmt::format(
      "assay gate --suite {}", suite_in_commands(options.selection.suite.string(), options.baselines, {}));
  const Outcome recorded{Word::recorded, fmt::format("{} trials as recording {} of {}", trials,
                                                     baseline.recordings.size(), file.string())};
  // A crash weighs more, and is the outcome then.
  if (outcome.word != Word::measured) text += recorded.text();
  text += ending(options.quiet ? "" : next, outcome.word == Word::measured ? recorded : outcome);
  put(options.json, text, json);
  return outcome;
}

}  // namespace assay
