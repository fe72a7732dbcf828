/// Baselines and comparisons as files hold them.
#pragma once

#include "assay/compare.hpp"
#include "core/json/fields.hpp"

namespace assay {

/// Limits of single trials, as a file holds them: the first whose filter selects a trial is its limit.
struct TrialLimit {
  std::string filter;
  double limit = 0;
};
struct TrialLimits {
  std::vector<TrialLimit> limits;
};
void describe(Fields& f, TrialLimit& limit);
void describe(Fields& f, TrialLimits& limits);

void describe(Fields& f, Baseline& baseline);
void describe(Fields& f, Comparison& comparison);

/// Writes a file of a folder of baselines, which it makes as needed. Throws Error.
void write_into_baselines(const std::filesystem::path& file, const std::string& json);

}  // namespace assay
