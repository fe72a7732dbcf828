/// Handles interrupts of the program, and crashes of a kernel.
#pragma once

#include <string_view>

namespace assay {

/// From now on SIGINT, SIGTERM and SIGHUP ask for a stop instead of ending the process; a later one ends
/// it, with `code`.
void catch_interrupts(int code);
bool interrupted();

/// From now on a crash names what was running, on standard error, and exits with `code`.
void report_crashes(int code);
/// Notes what is running now, where a signal handler can read it.
void now_running(std::string_view what);

}  // namespace assay
