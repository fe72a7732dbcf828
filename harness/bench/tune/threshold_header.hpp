/// A break-even size as a constant of C++, for the code that has to choose.
#pragma once

#include "bench/tune/threshold_record.hpp"

#include <string>

namespace assay {

/// Throws Error unless `name` may name a constant: an identifier that is no keyword and is not reserved.
void require_identifier(const std::string& name);

/// A whole header with the constant as `std::ptrdiff_t`, and a comment on the measurement.
/// Only for a threshold that has a constant.
std::string header_text(const ThresholdRecord& record, const std::string& name);

}  // namespace assay
