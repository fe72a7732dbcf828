/// Results in the formats of Google Benchmark, for tools that read those.
#pragma once

#include "assay/results.hpp"

#include <string>

namespace assay {

/// Writes a repetition for each launch, named by the trial's key, with the median time of the launch's
/// slices. A single launch has a repetition for each slice. Fields that the format lacks stand under the key
/// "assay". Trials that disagreed or were skipped carry "error_occurred" and "error_message".
std::string google_benchmark_json(const Results& results);

/// Writes the same rows in the columns of --benchmark_format=csv and =console.
std::string google_benchmark_csv(const Results& results);
std::string google_benchmark_console(const Results& results);

}  // namespace assay
