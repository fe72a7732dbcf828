/// The sizes of caches from which kernels take their blocks and thresholds.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// The variable of the environment that overrules what the system says: `32K/512K/32M`.
inline constexpr const char* caches_variable = "ASSAY_CACHES";

/// Bytes of the data caches that one core reaches.
struct CacheSizes {
  double first = 0, second = 0, last = 0;
  bool operator==(const CacheSizes&) const = default;
};

/// Returns the sizes that the system reports for the core of the first thread. Where it reports none: 32 KiB,
/// the least that processors have had since 2006, 256 KiB, and 32 MiB, as server cores since 2017.
CacheSizes caches_of_the_system();

/// Returns the sizes that the variable gives, or the system; asked once. Throws Error where the variable
/// gives impossible sizes.
const CacheSizes& caches();

/// Three sizes in bytes, KiB or MiB, none smaller than the one before. `where` names them in the Error that
/// is thrown for anything else.
CacheSizes cache_sizes_from(std::string_view text, std::string_view where);
/// The text of which cache_sizes_from() makes the same: `32K/512K/32M`.
std::string to_text(const CacheSizes& sizes);

}  // namespace assay
