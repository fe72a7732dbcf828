/// Finds the core that is left alone most, right now.
#pragma once

namespace assay {

/// Returns the processor, one of each fast core that this process may use, that took least of a short probe's
/// time for something else. Takes about two milliseconds each, for at most sixteen of them.
int freest_core();

}  // namespace assay
