/// The time at which something was done.
#pragma once

#include <string>

namespace assay {

/// Now, as results hold it: UTC, ISO 8601, whole seconds.
std::string utc_now();

}  // namespace assay
