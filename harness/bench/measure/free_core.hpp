/// Which core is left alone most, right now.
#pragma once

namespace assay {

/// Of the cores that this process may use, the one that took least of a short probe's time for something
/// else. Takes about two milliseconds per core.
int freest_core();

}  // namespace assay
