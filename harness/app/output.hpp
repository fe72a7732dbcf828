/// Sends a verb's words and JSON to their places.
#pragma once

#include "app/options.hpp"
#include "assay/report.hpp"

#include <filesystem>
#include <string>

namespace assay {

/// Prints `text`, unless JSON goes to standard output: then only that is printed. Otherwise JSON is written
/// to its file afterwards: what was found is told even where that fails.
void put(const Options& options, const std::string& text, const std::string& json);

/// Writes <folder>/<machine key>/<suite>.md and .json, makes the folders, and returns the path of the first.
std::filesystem::path write_report(const Report& report, const std::filesystem::path& folder);

}  // namespace assay
