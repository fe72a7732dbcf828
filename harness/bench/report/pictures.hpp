/// Pictures of a suite's report, each empty where it would show nothing.
#pragma once

#include "assay/report.hpp"
#include "core/markup/plot.hpp"

#include <string>
#include <vector>

namespace assay {

/// Speed-ups over naive of the fastest variant of each case, the least first.
Plot speedups_plot(const Report& report);
Plot roofline(const Report& report);
Plot peers_plot(const Report& report);
Plot predictions_plot(const Report& report);
Plot sizes_plot(const BreakEven& row);

/// Rows in the order in which their samples are of interest: failed or moved trials, then the widest
/// intervals.
std::vector<const TimeRow*> rows_to_show(const Report& report);

/// "gemm layout=a, simd#1 against naive"
std::string name_of(const BreakEven& row);

}  // namespace assay
