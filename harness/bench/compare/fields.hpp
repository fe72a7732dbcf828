/// Baselines and comparisons as files hold them.
#pragma once

#include "assay/compare.hpp"
#include "core/json/fields.hpp"

namespace assay {

void describe(Fields& f, Baseline& baseline);
void describe(Fields& f, Comparison& comparison);

}  // namespace assay
