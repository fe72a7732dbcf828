/// Finds the core that is left alone most, right now.
#pragma once

namespace assay {

/// Returns the core, of those that this process may use, that took least of a short probe's time for
/// something else. Takes about two milliseconds per core.
int freest_core();

}  // namespace assay
