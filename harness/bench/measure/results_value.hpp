/// Results as a JSON value, for files that hold more than one of them.
#pragma once

#include "assay/results.hpp"
#include "core/json/json.hpp"

namespace assay {

Json results_value(const Results& results);
/// Throws Error as results_from_json() does.
Results results_from(const JsonField& field);
/// The same of a whole file, parsed already; `where` names it.
Results results_from(const Json& file, const std::string& where);

}  // namespace assay
