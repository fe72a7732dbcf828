/// Result files of any kind this program knows.
#pragma once

#include "assay/results.hpp"

#include <filesystem>

namespace assay {

/// Our own results or Google Benchmark's JSON, told apart by their shape. Throws Error.
Results read_any_results(const std::filesystem::path& file);

}  // namespace assay
