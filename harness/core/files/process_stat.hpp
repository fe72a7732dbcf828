/// What /proc says of a process or a thread in one line.
#pragma once

#include <string>
#include <vector>

namespace assay {

/// The fields of a `stat` file of /proc, each at the number that proc(5) gives it, from 1 on. The second, a
/// name that may hold anything, is left empty. Nothing where there is no such process.
std::vector<std::string> fields_of_stat(const std::string& file);

}  // namespace assay
