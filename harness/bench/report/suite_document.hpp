/// The report of a suite as one file of HTML with pictures.
#pragma once

#include "assay/report.hpp"
#include "core/markup/plot.hpp"

namespace assay {

/// The file holds the JSON of the report as well.
Page report_page(const Report& report);

}  // namespace assay
