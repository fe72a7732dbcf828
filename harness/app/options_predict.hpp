/// Options of `predict`: what a measurement of a job does not say itself.
#pragma once

#include "assay/problem.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace assay {

struct PredictOptions {
  std::vector<std::filesystem::path> files;
  std::filesystem::path against;
  std::optional<Index> train, validation, batch, workers, prefetch;
  bool drop_last = false;
  std::string unit;
};

void add_predict_options(CLI::App& sub, PredictOptions& options);

}  // namespace assay
