/// Options of `tune threshold`, which needs no training job.
#pragma once

#include "tune/threshold_rounds.hpp"

#include <filesystem>
#include <string>

namespace CLI {
class App;
}

namespace assay {

struct ThresholdOptions {
  ThresholdRequest request;
  int rounds = ThresholdPolicy{}.rounds;
  std::filesystem::path header;  ///< where the constant goes; nowhere when empty
  std::string constant;          ///< its name
};
void add_tune_threshold_options(CLI::App& sub, ThresholdOptions& options);

}  // namespace assay
