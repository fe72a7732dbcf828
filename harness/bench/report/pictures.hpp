/// Pictures of a suite's report, each null where it would show nothing.
#pragma once

#include "assay/report.hpp"
#include "core/markup/plot.hpp"

#include <string>
#include <vector>

namespace assay {

/// Speed-ups over naive of the fastest variant of each case, the least first: where most is left to do.
Json speedups_plot(const Report& report);
Json roofline(const Report& report);
Json peers_plot(const Report& report);
Json predictions_plot(const Report& report);
Json sizes_plot(const BreakEven& row);

/// The rows whose samples say most: those that failed or moved, then the widest intervals.
std::vector<const TimeRow*> rows_to_show(const Report& report);

/// "gemm layout=a, simd#1 against naive"
std::string name_of(const BreakEven& row);

}  // namespace assay
