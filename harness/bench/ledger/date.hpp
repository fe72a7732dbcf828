/// Days of the calendar, as files hold them and as options name them: 2026-10-01, in UTC.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

using Date = std::chrono::sys_days;

/// Returns nothing unless `text` is four digits, two and two with dashes between, and the day exists.
std::optional<Date> date_from(std::string_view text);
std::string date_text(Date date);

}  // namespace assay
