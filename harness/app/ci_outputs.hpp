/// Writes a verdict for CI engines: a JUnit file; GitHub's annotations, summary and outputs.
#pragma once

#include "app/measuring.hpp"
#include "assay/compare.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

/// A verb's findings. `after` is always there.
struct Findings {
  const std::optional<Comparison>& comparison;
  const Results* before = nullptr;
  const Results* after = nullptr;
  Ending ending;
  std::vector<std::string> objections;  ///< where nothing was compared; else the comparison has them
  std::string command;                  ///< that repeats it for the rows that a `-k` behind it selects
};

/// Writes the file `junit`, where it is named, and what GitHub Actions reads, when this runs there.
/// Annotations go to standard output unless JSON goes there. Throws Error when a file cannot be written.
void put_ci_outputs(const std::filesystem::path& junit, const std::string& json, const Findings& findings);

}  // namespace assay
