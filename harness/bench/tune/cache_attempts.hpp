/// The sizes of caches that there are to try.
#pragma once

#include "assay/caches.hpp"
#include "bench/tune/variable.hpp"

#include <string>
#include <vector>

namespace assay {

/// The default first, which is what the system says; then the sizes asked for, or, with none, each size alone
/// halved and doubled, and a quarter of the last, which neighbours may share. Those that are no sizes of
/// three caches are passed over, those asked for refused with an Error.
std::vector<ValueAttempt> cache_attempts(const std::vector<std::string>& wanted, const CacheSizes& system);

}  // namespace assay
