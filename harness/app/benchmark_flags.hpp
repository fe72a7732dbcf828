/// Google Benchmark's flags, as `assay run` honours them.
#pragma once

#include "assay/problem.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct BenchmarkFlags {
  std::string filter;                    ///< a regular expression on keys; a leading '-' negates
  bool list_tests = false;               ///< print the keys and stop
  std::string out;                       ///< file for the results in Google Benchmark's form
  std::string out_format = "json";       ///< json, console or csv
  std::string format;                    ///< of standard output; empty leaves our own table
  std::optional<int> repetitions;        ///< slices per trial
  std::optional<double> min_time;        ///< seconds a slice lasts at least, from `0.1` or `0.1s`
  std::optional<Index> calls_per_slice;  ///< from `100x`
};

/// Takes the `--benchmark_*` arguments out of `arguments` and reads the BENCHMARK_* variables through
/// `environment`; an argument wins. Throws Error for a flag that is unknown or cannot be honoured.
BenchmarkFlags take_benchmark_flags(std::vector<std::string>& arguments,
                                    const std::function<const char*(const char*)>& environment);

}  // namespace assay
