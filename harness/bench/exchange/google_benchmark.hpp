/// Results in the formats of Google Benchmark, for tools that read those, and its JSON read as results.
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

/// Each repetition as a launch of one slice. Aggregates are no measurements and passed over, but for the
/// median of a benchmark that reports nothing else. A bare NaN or Infinity, which counters may hold and JSON
/// may not, counts as null. Throws Error.
Results results_from_google_benchmark(const std::string& text, const std::string& where);

}  // namespace assay
