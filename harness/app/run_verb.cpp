#include "app/measuring.hpp"
#include "app/output.hpp"
#include "app/sharding.hpp"
#include "app/verb_functions.hpp"
#include "assay/compare.hpp"
#include "assay/error.hpp"
#include "assay/report.hpp"
#include "bench/compare/outcome_of.hpp"
#include "bench/exchange/google_benchmark.hpp"
#include "bench/gate/durations.hpp"
#include "bench/report/content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace assay {
namespace {

Outcome list_keys(const Registry& registry, const RunRequest& request) {
  const Machine machine = this_machine();
  const auto plan = make_plan(registry, request.suite, request.selection, machine);
  if (plan.empty()) {
    const auto shard = shard_record(registry, request.suite, request.selection, machine);
    fmt::print(stderr, "{}\n", in_words(*shard));
  }
  for (const Trial& trial : plan) {
    if (trial.skipped.empty()) fmt::print("{}\n", trial.key);
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
  const char *const begin = digits.data(), *const end = begin + digits.size();
  if (Index calls = 0; unit == 'x') {
    const auto [rest, failure] = std::from_chars(begin, end, calls);
    if (failure == std::errc{} && rest == end && calls >= 1) {
      policy.calls_per_slice = calls;
      return;
    }
  } else {
    double seconds = -1;
    const auto [rest, failure] = std::from_chars(begin, end, seconds);
    if (failure == std::errc{} && rest == end && std::isfinite(seconds) && seconds >= 0) {
      policy.slice_seconds = seconds;
      policy.trial_seconds = std::max(policy.trial_seconds, seconds * policy.slices);
      return;
    }
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

  const Results results = run_with_progress(registry, request, options.quiet);
  const Outcome outcome = outcome_of(results);
  if (flags.format != BenchmarkFormat::own) {
    fmt::print("{}", in_benchmark_format(flags.format, results));
    if (outcome.word != Word::measured) fmt::print(stderr, "{}", outcome.text());
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

}  // namespace assay
