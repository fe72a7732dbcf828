/// Reports as files hold them.
#pragma once

#include "assay/report.hpp"
#include "core/json/fields.hpp"

namespace assay {

void describe(Fields& f, Report& report);

/// The report as files hold it, with the figures and words that a document of it needs besides.
Json document_values(const Report& report);

}  // namespace assay
