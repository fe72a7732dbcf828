/// Times of single steps as a table of comma-separated values, read as a job.
#pragma once

#include "training/job/job.hpp"

#include <string>

namespace assay {

/// One row per step, in order; separated by commas, semicolons or tabs; lines may end in CR LF.
///
/// With a header, a column of times is named for its unit (`seconds`, `ms`, `step_ms`) or `time`, `duration`
/// or `step_time`; `load_...` is what loading took of the same step; `step` is its number, and a first number
/// above 0 means that start-up is not in the table; `unit` holds the unit of each row. Other columns are
/// dropped, with a note. Without a header there is one column of times, or a number and a time.
///
/// `unit` is that of columns that name none; empty when nobody said. Throws Error naming the line that cannot
/// be read, and when no unit is known or two contradict each other.
Job read_step_csv(const std::string& text, const std::string& where, const std::string& unit = "");

}  // namespace assay
