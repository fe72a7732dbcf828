/// Sends a verb's words and JSON to their places.
#pragma once

#include "assay/report.hpp"

#include <filesystem>
#include <string>

namespace assay {

/// Prints `text`, unless `where`, the place for JSON, is `-`, standard output: then only JSON is printed.
/// Otherwise JSON is written to that file afterwards, where there is one: what was found is told even where
/// that fails.
void put(const std::string& where, const std::string& text, const std::string& json);

/// Writes <folder>/<machine key>/<suite>.md and .json, makes the folders, and returns the path of the first.
std::filesystem::path write_report(const Report& report, const std::filesystem::path& folder);

}  // namespace assay
