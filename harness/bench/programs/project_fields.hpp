/// `assay.json`, as files have it.
#pragma once

#include "bench/programs/project.hpp"
#include "core/json/fields.hpp"

namespace assay {

void describe(Fields& f, Project& project);

}  // namespace assay
