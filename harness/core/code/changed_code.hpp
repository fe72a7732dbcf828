/// Code that a process has changed in its memory: a judge that agrees, a clock that is slow.
#pragma once

#include <sys/types.h>

#include <string>

namespace assay {

/// Looks at the code of a program of assay that runs, of the C library and of the run-time library of C++,
/// and returns in which of their files it differs from the file, such as "libc.so.6"; empty where it does
/// not. Breakpoints of debuggers and tracers are no difference. The system tells what the process has in
/// memory: it cannot hide it, except by leave of its own to be looked at, and then that is the answer.
std::string changed_code(pid_t process);

}  // namespace assay
