/// The time and the day on which something was done, and how long it took.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

/// Now, as results hold it: UTC, ISO 8601, whole seconds.
std::string utc_now();

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Seconds that a clock of the system shows, such as CLOCK_MONOTONIC. An instruction asks the system: no
/// function of a library stands between, which a kernel could replace.
double system_seconds(clockid_t clock);

/// Ticks of a counter of the processor, which no kernel in the same process can stand before either;
/// nanoseconds by system_seconds() where it has none that is steady.
std::uint64_t ticks();

/// Seconds between two looks at the steady clock with two at ticks() between them, as first measured.
double seconds_of_a_look();

/// A day of the calendar, as files hold it and as options name it: 2026-10-01, in UTC.
using Date = std::chrono::sys_days;

/// Returns nothing unless `text` is four digits, two and two with dashes between, and the day exists.
std::optional<Date> date_from(std::string_view text);
std::string date_text(Date date);

}  // namespace assay
