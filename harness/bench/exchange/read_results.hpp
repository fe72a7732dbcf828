/// Result files of any kind this program knows.
#pragma once

#include "assay/results.hpp"

#include <filesystem>

namespace assay {

/// Our own results, or those of Google Benchmark, hyperfine, pytest-benchmark, NVBench or benchdnn, told
/// apart by their shape. Throws Error.
Results read_any_results(const std::filesystem::path& file);

}  // namespace assay
