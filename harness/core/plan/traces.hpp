/// Cases whose problem a file holds, such as a trace of the memory that a program asked for: `trace=FILE`.
#pragma once

#include "assay/suite.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

/// Stands in the place of the fields that the file has; others may follow, as in `trace=a.csv,plans=one`.
inline constexpr std::string_view trace_field = "trace";

/// Makes the problem of a case canonical, and finds its file if it names one. `folder` has the suite, below
/// which its files lie, so that they go with it to other machines; with none, for a command line, the file is
/// sought from the working directory and may be anywhere. Throws Error naming `where` and the field at fault.
void make_canonical(Case& row, const Operation& operation, const std::string& where,
                    const std::filesystem::path& folder);

}  // namespace assay
