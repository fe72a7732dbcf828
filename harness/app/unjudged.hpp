/// Counts what a gate could not judge, and decides whether it passes all the same.
#pragma once

#include "app/options.hpp"
#include "assay/compare.hpp"

#include <string>

namespace assay {

/// "2 undecided, 1 not comparable, 1 gone"; empty when all trials were judged.
std::string unjudged_text(const Comparison& comparison);

/// With `--on-undecided fail` nothing may be left unjudged. A bisection asks whether this commit is good: it
/// is not known to be while a trial is undecided or not comparable. One that is gone cannot be slower.
bool unjudged_fails(const Comparison& comparison, const JudgingOptions& options);

/// Whether acceptances that ran out fail. A day that is past says nothing of a commit that is bisected.
bool expiry_fails(const JudgingOptions& options);

}  // namespace assay
