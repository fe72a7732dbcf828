/// The day on which acceptances are judged.
#pragma once

#include "core/machine/clock.hpp"

namespace assay {

/// The day in UTC; that of ASSAY_TODAY where it is set, so that a gate can be repeated, which is said on
/// standard error. SOURCE_DATE_EPOCH does not count: build systems set it to a day long past, on which no
/// acceptance has run out. Throws Error when it is no day.
Date today();

}  // namespace assay
