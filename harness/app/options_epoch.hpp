/// Options of `epoch` and `tune`.
#pragma once

#include "training/tune/rounds.hpp"

#include <filesystem>
#include <vector>

namespace CLI {
class App;
}

namespace assay {

struct EpochOptions {
  std::vector<std::filesystem::path> jobs;
  double share = 0.02;           ///< of the steps, that calibration may train
  std::filesystem::path frozen;  ///< the prediction, written before the epoch
  std::filesystem::path timeline;
  std::filesystem::path log;    ///< a line per epoch is added
  std::filesystem::path score;  ///< a log to be summed up instead
  bool elsewhere = false;       ///< predict settings that are not run, too
  bool predict_only = false;
};
void add_epoch_options(CLI::App& sub, EpochOptions& options);

struct TuneOptions {
  std::filesystem::path job;
  TuneGrid grid;
  TunePolicy policy;
};
/// Of `tune loader`, `tune batch` and `tune threads`, which vary one thing each.
void add_tune_loader_options(CLI::App& sub, TuneOptions& options);
void add_tune_batch_options(CLI::App& sub, TuneOptions& options);
void add_tune_threads_options(CLI::App& sub, TuneOptions& options);

}  // namespace assay
