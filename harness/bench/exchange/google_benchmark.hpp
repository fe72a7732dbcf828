/// Results in the formats of Google Benchmark, for tools that read those.
#pragma once

#include "assay/results.hpp"

#include <string>

namespace assay {

/// One repetition per launch, named by the trial's key, its time the median of the launch's slices; a single
/// launch has one repetition per slice. All that the format has no place for stands under one key, "assay".
/// Trials that disagreed or were skipped carry "error_occurred" and "error_message".
std::string google_benchmark_json(const Results& results);

/// Writes the same rows in the columns of --benchmark_format=csv and =console.
std::string google_benchmark_csv(const Results& results);
std::string google_benchmark_console(const Results& results);

}  // namespace assay
