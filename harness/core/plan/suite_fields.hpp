/// Suites as files hold them; load_suite() asks the operations about the cases as well.
#pragma once

#include "assay/suite.hpp"
#include "core/json/fields.hpp"

namespace assay {

void describe(Fields& f, Suite& suite);

}  // namespace assay
