// The sizes of this machine's caches, from which kernels take their blocks and thresholds.
#pragma once

namespace assay {

/// Bytes of the data caches that one core reaches.
struct Caches {
  double first = 0, second = 0, last = 0;
};

/// What sysfs says of the first core, asked once. Where it does not say: 32 KiB, the least that processors
/// have had since 2006, 256 KiB, and 32 MiB, as server cores have had since 2017.
const Caches& caches();

}  // namespace assay
