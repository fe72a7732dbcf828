/// Clocks that a kernel in the same process cannot stand before, and what it costs to look at one.
#pragma once

#include <cstdint>

namespace assay {

/// Ticks of a counter of the processor; nanoseconds by system_seconds() where it has none that is steady.
std::uint64_t ticks();

/// Seconds between two looks at the steady clock with two at ticks() between them, as they were when first
/// asked for.
double seconds_of_a_look();

}  // namespace assay
