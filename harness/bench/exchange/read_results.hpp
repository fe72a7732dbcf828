/// Files of results in every format that this program reads.
#pragma once

#include "assay/results.hpp"

#include <filesystem>

namespace assay {

/// Reads results of assay or of another program in the table of read_results.cpp. The structure of the file
/// tells its format. Throws Error naming the file and the key or line at fault.
Results read_any_results(const std::filesystem::path& file);
/// Reads results from a text. Files that it names lie beside `path`.
Results results_in(const std::string& text, const std::filesystem::path& path);

}  // namespace assay
