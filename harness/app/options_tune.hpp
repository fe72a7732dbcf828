/// Options of `tune threshold` and `tune library`, which need no training job.
#pragma once

#include "bench/tune/threshold_rounds.hpp"

#include <filesystem>
#include <string>
#include <vector>

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

struct LibraryOptions {
  std::vector<std::string> core_types;  ///< empty: all that this processor can execute
  int rounds = 10;
};
void add_tune_library_options(CLI::App& sub, LibraryOptions& options);

}  // namespace assay
