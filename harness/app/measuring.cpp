#include "app/measuring.hpp"

#include "app/progress.hpp"
#include "app/sharding.hpp"
#include "assay/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

std::string command_of(const Options& options, int launches) {
  std::string out = fmt::format("assay run --suite {} --launches {} --seed {}", options.suite.string(),
                                launches, options.seed);
  if (!options.filter.empty()) out += fmt::format(" -k '{}'", options.filter);
  if (!options.threads.empty()) out += fmt::format(" --threads {}", fmt::join(options.threads, ","));
  if (options.time_limit > 0) out += fmt::format(" --time-limit {:g}", options.time_limit);
  return out;
}

}  // namespace

RunRequest run_request(const Options& options, const Registry& registry, int launches) {
  RunRequest request{
      .suite = load_suite(options.suite, registry),
      .selection = {.filter = options.filter, .threads = options.threads, .seed = options.seed},
      .measuring = {.launches = options.launches > 0 ? options.launches : launches, .seed = options.seed}};
  request.measuring.time_limit = options.time_limit;
  request.checking = {.own_process = true, .time_limit = options.time_limit};
  request.command = command_of(options, request.measuring.launches);
  const BenchmarkFlags& flags = options.benchmark;
  if (!flags.filter.empty()) {
    if (!options.filter.empty()) {
      throw Error("--benchmark_filter", "is given beside -k", "give one of the two");
    }
    request.selection.filter = flags.filter;
    request.command += fmt::format(" --benchmark_filter='{}'", flags.filter);
  }
  if (flags.repetitions) {
    request.measuring.slices = *flags.repetitions;
    request.command += fmt::format(" --benchmark_repetitions={}", *flags.repetitions);
  }
  if (flags.min_time) {
    request.measuring.slice_seconds = *flags.min_time;
    request.measuring.trial_seconds =
        std::max(request.measuring.trial_seconds, *flags.min_time * request.measuring.slices);
    request.command += fmt::format(" --benchmark_min_time={}", *flags.min_time);
  }
  if (flags.calls_per_slice) {
    request.measuring.calls_per_slice = *flags.calls_per_slice;
    request.command += fmt::format(" --benchmark_min_time={}x", *flags.calls_per_slice);
  }
  return request;
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
