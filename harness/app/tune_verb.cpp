#include "app/clock.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verbs.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "core/machine/build_info.hpp"
#include "core/statistics/decision.hpp"
#include "core/text/command.hpp"
#include "training/tune/decision_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay {
namespace {

template <class T>
std::string option(const char* name, const std::vector<T>& values) {
  return values.empty() ? "" : fmt::format(" {} {}", name, fmt::join(values, ","));
}

std::string command_of(const char* what, const TuneOptions& tune, std::uint64_t seed) {
  return fmt::format("assay tune {} --job {}{}{}{}{}{} --rounds {} --run-seconds {:g} --seed {}", what,
                     shell_word(tune.job.string()), option("--workers", tune.grid.workers),
                     option("--prefetch", tune.grid.prefetch), option("--batch", tune.grid.batch),
                     option("--threads", tune.grid.threads), tune.grid.any_order ? " --any-order" : "",
                     tune.policy.rounds, tune.policy.run_seconds, seed);
}

/// What is tried where nobody said.
TuneOptions completed(TuneOptions tune, Verb verb) {
  if (verb == Verb::tune_loader && tune.grid.workers.empty()) tune.grid.workers = {0, 1, 2};
  if (verb == Verb::tune_loader && tune.grid.prefetch.empty()) tune.grid.prefetch = {1, 2, 4};
  if (verb == Verb::tune_threads && tune.grid.threads.empty()) tune.grid.threads = {1, 2};
  return tune;
}

const char* name_of(Verb verb) {
  return verb == Verb::tune_loader ? "loader" : verb == Verb::tune_batch ? "batch" : "threads";
}

}  // namespace

int tune_verb(const Options& options) {
  const TuneOptions tune = completed(options.tune, options.verb);
  TuneRecord record{.job = training_job_from_json(read_file(tune.job), tune.job),
                    .date = utc_now(),
                    .commit = build_info().commit,
                    .command = command_of(name_of(options.verb), tune, options.seed),
                    .machine = this_machine(),
                    .policy = tune.policy};
  record.attempts = attempts_of(record.job.plan, tune.grid);
  if (record.attempts.size() < 2) {
    throw Error("tune", "there is nothing to try beside the job as it is", "name other values");
  }
  for (const Attempt& attempt : record.attempts) {
    require_memory(attempt.plan, tune.job.string() + ", " + in_words(attempt.plan),
                   record.machine.memory_bytes);
  }
  const WeatherStation station;
  {
    Progress progress;
    measure_rounds(record.attempts, tune.policy, options.seed, progress.hooks());
  }
  record.weather = station.since();
  if (record.attempts.front().rounds.size() < fewest_rounds) {
    fmt::print("INTERRUPTED after {} rounds: nothing is decided\n", record.attempts.front().rounds.size());
    return exit_code::interrupted;
  }
  record.ruling = ruled(record.attempts);
  if (!options.markdown.empty()) write_file(options.markdown, decision_record(record));
  if (!options.output.empty()) write_file(options.output, to_json(record) + "\n");
  put(options, decision_text(record), to_json(record));
  for (const AttemptRuling& one : record.ruling.attempts) {
    if (one.decision == Decision::wrong) return exit_code::found;
  }
  return exit_code::passed;
}

}  // namespace assay
