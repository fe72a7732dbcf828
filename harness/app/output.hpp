/// Where a verb's words and JSON go.
#pragma once

#include "app/options.hpp"

#include <string>

namespace assay {

/// Prints `text`, unless JSON goes to standard output: then only that is printed.
/// Writes JSON to a file otherwise.
void put(const Options& options, const std::string& text, const std::string& json);

}  // namespace assay
