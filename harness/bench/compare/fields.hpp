/// Baselines and comparisons as files hold them.
#pragma once

#include "assay/compare.hpp"
#include "core/json/fields.hpp"

namespace assay {

void describe(Fields& f, Baseline& baseline);
void describe(Fields& f, Comparison& comparison);

/// Writes a file of a folder of baselines, which it makes as needed. Throws Error.
void write_into_baselines(const std::filesystem::path& file, const std::string& json);

}  // namespace assay
