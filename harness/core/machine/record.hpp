/// The common part of all records of decisions: their last lines, and the form of an interval.
#pragma once

#include "assay/interval.hpp"
#include "assay/machine.hpp"
#include "core/json/json.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

/// Columns of the tables for a terminal.
inline constexpr std::size_t terminal_width = 80;

/// The values of reports/templates/record_end.md, to which a record adds its own.
Json record_values(const std::string& date, const std::string& commit, const Machine& machine,
                   const Weather& weather, const std::string& command);

/// Low, middle, high: the form of an interval in tables of numbers.
std::vector<double> triple(const Interval& interval);

}  // namespace assay
