/// The line that /proc has for a process or a thread.
#pragma once

#include <string>
#include <vector>

namespace assay {

/// Returns the fields of a `stat` file of /proc, each at its number in proc(5), from 1 on. The second, a name
/// that may hold any character, is left empty. Returns nothing where there is no such process.
std::vector<std::string> fields_of_stat(const std::string& file);

}  // namespace assay
