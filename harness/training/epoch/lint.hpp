/// Arithmetic that every report about a job must satisfy. Pure functions.
#pragma once

#include "core/json/lint.hpp"
#include "training/job/job.hpp"

#include <vector>

namespace assay {

/// Largest share of a step that may be called "other" without a remark.
inline constexpr double largest_other = 0.1;

/// Lists findings in the order of the file: dataset, windows, phases, claims. Figures that agree within their
/// rounding agree.
std::vector<LintFinding> lint(const Job& job);

}  // namespace assay
