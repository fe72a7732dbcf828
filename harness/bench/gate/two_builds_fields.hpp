/// A gate of two builds from a JSON value, for readers that parse a file before they know what it holds.
#pragma once

#include "bench/gate/two_builds.hpp"
#include "core/json/fields.hpp"

#include <string>

namespace assay {

void describe(Fields& f, TwoBuilds& run);
/// Whether a file is one of these, by its schema.
bool holds_two_builds(const Json& file);
/// Throws Error as two_builds_from_json() does; `where` names the file.
TwoBuilds two_builds_from(const Json& file, const std::string& where);

}  // namespace assay
