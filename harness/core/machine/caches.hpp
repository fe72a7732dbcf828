// The data caches that one core sees, from sysfs, or from the C library where sysfs is missing.
#pragma once

#include "assay/machine.hpp"
#include "core/machine/limits.hpp"

#include <vector>

namespace assay {

// Lists caches by level. `cores` stands in for who shares the last level where the system does not say.
std::vector<Cache> data_caches(const ReadFile& read, int cores);

}  // namespace assay
