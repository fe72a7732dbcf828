/// Freezing a process before its kernels are timed: what no kernel needs once its plans are made is no longer
/// to be had.
#pragma once

#include "core/check/contained.hpp"

namespace assay {

/// From now on nobody in this process can take its system calls in, answer its page faults, or start a
/// process that is no child of it; an attempt ends it. No kernel needs any of that, and what judges and times
/// kernels relies on it. Without effect where the system has no filters.
void keep_system_calls();

/// Why this machine cannot freeze a process; empty when it can.
std::string why_no_freeze();

/// From now on the calling thread, and those that it starts, end the process by starting processes or
/// threads, by changing signal handlers, priorities, processors, timers or code in memory, and by looking
/// into other processes. The system call is told to the parent through `record`. Nothing ends it but the end
/// of the process. Throws Error where that cannot be had.
void freeze(StepRecord* record);

}  // namespace assay
