#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace assay {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

/// Smallest first.
constexpr std::array time_units{Unit{1e-9, "ns"}, Unit{1e-6, "µs"}, Unit{1e-3, "ms"}, Unit{1, "s"}};
constexpr std::array byte_units{Unit{1, "B"}, Unit{0x1p10, "KiB"}, Unit{0x1p20, "MiB"}, Unit{0x1p30, "GiB"}};

/// Rounded first: 999.6 ns is 1.00 µs, not 1,000 ns.
double rounded(double value, int digits = 3) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double step = std::pow(10.0, std::floor(std::log10(std::abs(value))) + 1 - digits);
  return std::round(value / step) * step;
}

template <std::size_t count>
const Unit& unit_for(double value, const std::array<Unit, count>& units) {
  const Unit* chosen = &units.front();
  for (const Unit& unit : units) {
    if (rounded(std::abs(value) / unit.size) >= 1) chosen = &unit;
  }
  return *chosen;
}

std::string separated(std::string digits) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = point; at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string figure_of(double value, int digits) {
  if (!std::isfinite(value)) return "unknown";
  if (value == 0) return "0";
  const double shown = rounded(value, digits);
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(shown)) + 1e-9));
  return separated(fmt::format("{:.{}f}", shown, std::max(0, digits - 1 - exponent)));
}

/// Digits of `value` down to the second one of `half_width`, between 4 and 9.
int resolved_digits(double value, double half_width) {
  if (half_width <= 0 || value == 0) return 4;
  const double ratio = std::floor(std::log10(std::abs(value))) - std::floor(std::log10(half_width));
  return std::clamp(static_cast<int>(ratio) + 2, 4, 9);
}

/// All in the unit of the middle.
std::string interval_text(const Interval& seconds, int digits, bool has_range) {
  const Unit& unit = unit_for(seconds.middle, time_units);
  const std::string middle = fmt::format("{} {}", figure_of(seconds.middle / unit.size, digits), unit.name);
  if (!has_range) return middle;
  return fmt::format("{} [{}, {}]", middle, figure_of(seconds.low / unit.size, digits),
                     figure_of(seconds.high / unit.size, digits));
}

}  // namespace

std::string figure(double value) { return figure_of(value, 3); }

std::string count_text(std::int64_t value) { return separated(fmt::format("{}", value)); }

std::string count_text(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? count_text(static_cast<std::int64_t>(value))
                                                              : figure(value);
}

std::string quantity_text(std::int64_t count, std::string_view one, std::string_view more) {
  if (count == 1) return fmt::format("1 {}", one);
  return more.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, more);
}

std::string seconds_text(double seconds) { return interval_text({.middle = seconds}, 3, false); }

std::string seconds_text(const Interval& seconds) { return interval_text(seconds, 3, true); }

std::string fine_seconds_text(const Interval& seconds) {
  return interval_text(seconds, resolved_digits(seconds.middle, (seconds.high - seconds.low) / 2),
                       seconds.low < seconds.high);
}

std::string speedup_text(const Interval& speedup) {
  const bool has_no_interval = speedup.coverage == 0 && speedup.low == speedup.high;
  if (has_no_interval) return figure(speedup.middle) + "x";
  return fmt::format("{}x [{}, {}]{}", figure(speedup.middle), figure(speedup.low), figure(speedup.high),
                     speedup.high < 1 ? " (slower)" : "");
}

std::string percent_text(double share) { return figure(100 * share) + " %"; }

std::string bytes_text(double bytes) {
  const Unit& unit = unit_for(bytes, byte_units);
  return fmt::format("{} {}", figure(bytes / unit.size), unit.name);
}

}  // namespace assay
