#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verb_functions.hpp"
#include "assay/error.hpp"
#include "assay/pipeline.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/clock.hpp"
#include "core/statistics/decision.hpp"
#include "training/tune/decision_record.hpp"

#include <fmt/format.h>

#include <utility>

namespace assay {
namespace {

Outcome tuned(const TuneOptions& tune, const TuneGrid& grid, std::string command) {
  TuneRecord record{.job = training_job_from_json(read_file(tune.job), tune.job),
                    .date = utc_now(),
                    .commit = build_info().commit,
                    .command = std::move(command),
                    .machine = this_machine(),
                    .policy = tune.policy};
  record.attempts = attempts_of(record.job.plan, grid);
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
    measure_rounds(record.attempts, tune.policy, tune.seed, progress.hooks());
  }
  record.weather = station.since();
  if (record.attempts.front().rounds.size() < fewest_rounds) {
    fmt::print("INTERRUPTED after {} rounds: nothing is decided\n", record.attempts.front().rounds.size());
    return {Word::interrupted};
  }
  record.ruling = ruled(record.attempts);
  if (!tune.outputs.markdown.empty()) write_file(tune.outputs.markdown, decision_record(record));
  if (!tune.outputs.output.empty()) write_file(tune.outputs.output, to_json(record) + "\n");
  put(tune.outputs.json, decision_text(record), to_json(record));
  for (const AttemptRuling& one : record.ruling.attempts) {
    if (one.decision == Decision::wrong) return {Word::wrong};
  }
  return {};
}

}  // namespace

Outcome tune_loader_verb(const TuneLoaderOptions& options) {
  return tuned(options.tune,
               {.workers = options.workers, .prefetch = options.prefetch, .any_order = options.any_order},
               command_of("tune loader", options));
}

Outcome tune_batch_verb(const TuneBatchOptions& options) {
  return tuned(options.tune, {.batch = options.batch}, command_of("tune batch", options));
}

Outcome tune_threads_verb(const TuneThreadsOptions& options) {
  return tuned(options.tune, {.threads = options.threads}, command_of("tune threads", options));
}

}  // namespace assay
