/// Reports as files hold them.
#pragma once

#include "assay/report.hpp"
#include "core/json/fields.hpp"

namespace assay {

void describe(Fields& f, Report& report);

}  // namespace assay
