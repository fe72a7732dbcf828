/// The report of a suite as a document, and as one file of HTML with pictures.
#pragma once

#include "assay/report.hpp"
#include "core/markup/document.hpp"

namespace assay {

doc::Document document_of(const Report& report);

/// The file holds the JSON of the report as well.
Page report_page(const Report& report);

}  // namespace assay
