/// The common part of all records of decisions: their first and last lines, and the form of an interval.
#pragma once

#include "assay/interval.hpp"
#include "assay/machine.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

/// Columns of the tables for a terminal.
inline constexpr std::size_t terminal_width = 80;

/// The paragraph below the title: when, which commit, on which machine.
std::string status_paragraph(const std::string& date, const std::string& commit, const Machine& machine);

/// `Other processes took 3 % of the processors, the host 0 %.`
std::string weather_sentence(const Weather& weather);

/// The last section.
std::string how_to_reproduce(const std::string& command);

/// Low, middle, high: the form of an interval in tables of numbers.
std::vector<double> triple(const Interval& interval);

}  // namespace assay
