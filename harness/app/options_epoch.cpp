#include "app/options_epoch.hpp"

#include "app/options_checks.hpp"

#include <CLI/CLI.hpp>

namespace assay {
namespace {

void add_common(CLI::App& sub, TuneOptions& options) {
  sub.add_option("--job", options.job, "a training job, such as suites/jobs/classifier.json")->required();
  sub.add_option("--rounds", options.policy.rounds,
                 "interleaved rounds, in each of which every setting runs once")
      ->check(CLI::Range(6, 1000));
  sub.add_option("--run-seconds", options.policy.run_seconds, "of each setting in each round, about")
      ->check(between(0.01, 3600.0));
}

}  // namespace

void add_epoch_options(CLI::App& sub, EpochOptions& options) {
  sub.add_option("--job", options.jobs, "training jobs, such as suites/jobs/classifier.json");
  sub.add_option("--share", options.share,
                 "of the steps, that may be trained before the prediction (default 0.02)")
      ->check(between(0.0001, 0.5));
  sub.add_option("--frozen", options.frozen, "write the prediction here before the epoch begins");
  sub.add_option("--timeline", options.timeline, "write the epoch as a trace for Perfetto here");
  sub.add_option("--log", options.log, "add a line per epoch to this file");
  sub.add_option("--score", options.score, "sum up such a file, and train nothing");
  sub.add_flag("--elsewhere", options.elsewhere,
               "predict 0, 1 and 2 workers with 1, 2 and 4 batches ahead, too");
  sub.add_flag("--predict-only", options.predict_only, "stop before the epoch");
}

void add_tune_loader_options(CLI::App& sub, TuneOptions& options) {
  add_common(sub, options);
  sub.add_option("--workers", options.grid.workers, "to try (default 0,1,2)")
      ->delimiter(',')
      ->check(CLI::Range(Index{0}, Index{256}));
  sub.add_option("--prefetch", options.grid.prefetch, "batches ahead per worker to try (default 1,2,4)")
      ->delimiter(',')
      ->check(CLI::Range(Index{1}, Index{1024}));
  sub.add_flag("--any-order", options.grid.any_order, "try delivery out of order as well");
}

void add_tune_batch_options(CLI::App& sub, TuneOptions& options) {
  add_common(sub, options);
  sub.add_option("--batch", options.grid.batch, "sizes to try, as 32,64,128")
      ->delimiter(',')
      ->required()
      ->check(CLI::Range(Index{1}, Index{1} << 20));
}

void add_tune_threads_options(CLI::App& sub, TuneOptions& options) {
  add_common(sub, options);
  sub.add_option("--threads", options.grid.threads, "of a step, to try (default 1,2)")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096));
}

}  // namespace assay
