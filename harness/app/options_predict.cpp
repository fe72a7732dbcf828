#include "app/options_predict.hpp"

#include <CLI/CLI.hpp>

namespace assay {

void add_predict_options(CLI::App& sub, PredictOptions& options) {
  constexpr Index most = Index{1} << 50;
  sub.add_option(
         "files", options.files,
         "results of a suite; or a job: phases as JSON, traces of the PyTorch profiler, step times as CSV")
      ->required();
  sub.add_option("--against", options.against,
                 "a later measurement of the same job, or its measured epoch: print the error of each model");
  sub.add_option("--train-size", options.train, "samples of an epoch, where the file does not say")
      ->check(CLI::Range(Index{1}, most));
  sub.add_option("--validation-size", options.validation, "samples of a validation, likewise")
      ->check(CLI::Range(Index{0}, most));
  sub.add_option("--batch", options.batch, "samples of a step, likewise")->check(CLI::Range(Index{1}, most));
  sub.add_flag("--drop-last", options.drop_last, "a last batch that is not full is no step");
  sub.add_option("--workers", options.workers, "worker processes of the loader, likewise")
      ->check(CLI::Range(Index{0}, Index{4096}));
  sub.add_option("--prefetch", options.prefetch, "batches under way for each worker, likewise")
      ->check(CLI::Range(Index{1}, Index{4096}));
  sub.add_option("--unit", options.unit, "s, ms, us or ns, of step times in a CSV that names none");
}

}  // namespace assay
