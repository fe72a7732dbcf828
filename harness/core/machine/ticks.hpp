/// Clocks that a kernel in the same process cannot stand before, and what it costs to look at one.
#pragma once

#include <cstdint>

namespace assay {

/// Ticks of a counter of the processor; nanoseconds by system_seconds() unless ticks_without_system().
std::uint64_t ticks();
/// Whether the clock of the system is made of that counter, so that it is steady.
bool ticks_without_system();

/// Seconds between two looks at the steady clock one after the other, as they were when first asked for.
double seconds_of_a_look();

}  // namespace assay
