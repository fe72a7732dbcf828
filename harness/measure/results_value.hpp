/// Results as a JSON value, for files that hold more than one of them.
#pragma once

#include "assay/results.hpp"
#include "measure/json_file.hpp"

namespace assay {

Json results_value(const Results& results);
/// Throws Error as results_from_json() does.
Results results_from(const JsonField& field);

}  // namespace assay
