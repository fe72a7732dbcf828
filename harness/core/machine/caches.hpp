// The data caches that one core sees, from sysfs, or from the C library where sysfs is missing.
#pragma once

#include "assay/machine.hpp"
#include "core/machine/limits.hpp"

#include <vector>

namespace assay {

// Lists caches by level. Where the system does not say who shares the last level, `cores` cores share it.
std::vector<Cache> data_caches(const ReadFile& read, int cores);

}  // namespace assay
