// Numbers as readers see them: three significant digits, and units that fit. Data stays in SI units.
#pragma once

#include "assay/interval.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

/// Three significant digits, thousands separated: `0.00123`, `61.2`, `1,230`.
std::string figure(double value);

/// An integer, thousands separated: `1,048,576`.
std::string count_text(std::int64_t value);
/// Writes a count that need not be whole, such as an average.
std::string count_text(double value);

/// `1 core`, `2 cores`; `more` where an s is not enough.
std::string quantity_text(std::int64_t count, std::string_view one, std::string_view more = {});

/// `412 µs`; the unit is the largest in which the figure is at least 1.
std::string seconds_text(double seconds);

/// `412 µs [410, 415]`, all in the unit of the middle.
std::string seconds_text(const Interval& seconds);

/// Writes as many digits as the interval resolves, at least four: `1,283.4 s [1,281.9, 1,284.9]`. There is no
/// range where the interval has no width.
std::string fine_seconds_text(const Interval& seconds);

/// `6.73x [6.68, 6.79]`; `(slower)` is added when the whole interval is below 1.
std::string speedup_text(const Interval& speedup);

/// `71.3 %`.
std::string percent_text(double share);

/// `64.0 KiB`.
std::string bytes_text(double bytes);

}  // namespace assay
