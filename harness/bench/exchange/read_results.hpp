/// Files of results in every format that this program reads.
#pragma once

#include "assay/results.hpp"

#include <filesystem>

namespace assay {

/// Reads our own results, or those of another program that the table in read_results.cpp has, told apart by
/// their structure. Throws Error naming the file and the key or line at fault.
Results read_any_results(const std::filesystem::path& file);
/// The same of a text; files that it names lie beside `path`.
Results results_in(const std::string& text, const std::filesystem::path& path);

}  // namespace assay
