#include "training/job/quoted.hpp"

#include "core/text/parts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace assay {
namespace {

struct Unit {
  std::string_view name;
  double size;
  Quantity quantity;
};

constexpr std::array units{
    Unit{"ns", 1e-9, Quantity::seconds},
    Unit{"nanoseconds", 1e-9, Quantity::seconds},
    Unit{"us", 1e-6, Quantity::seconds},
    Unit{"µs", 1e-6, Quantity::seconds},
    Unit{"microseconds", 1e-6, Quantity::seconds},
    Unit{"ms", 1e-3, Quantity::seconds},
    Unit{"milliseconds", 1e-3, Quantity::seconds},
    Unit{"s", 1, Quantity::seconds},
    Unit{"sec", 1, Quantity::seconds},
    Unit{"seconds", 1, Quantity::seconds},
    Unit{"min", 60, Quantity::seconds},
    Unit{"h", 3600, Quantity::seconds},
    Unit{"/s", 1, Quantity::samples_per_second},
    Unit{"samples/s", 1, Quantity::samples_per_second},
    Unit{"%", 0.01, Quantity::share},
    Unit{"", 1, Quantity::count},
};

}  // namespace

std::optional<Quoted> parse_quoted(std::string_view text) {
  const std::size_t number = std::min(text.find_first_not_of("0123456789.,-"), text.size());
  const std::size_t point = std::min(text.find('.'), number);
  if (text.substr(point, number - point).find(',') != std::string_view::npos) return std::nullopt;
  std::string digits(text.substr(0, number));
  std::erase(digits, ',');
  const auto value = number_from<double>(digits);
  if (!value) return std::nullopt;
  std::string_view rest = text.substr(number);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const auto unit = std::ranges::find(units, rest, &Unit::name);
  if (unit == units.end()) return std::nullopt;
  const std::size_t decimals = point < number ? number - point - 1 : 0;
  const double half =
      unit->quantity == Quantity::count ? 0 : 0.5 * std::pow(10.0, -static_cast<double>(decimals));
  return Quoted{.value = *value * unit->size,
                .rounding = half * unit->size,
                .quantity = unit->quantity,
                .text = std::string(text)};
}

double seconds_in(std::string_view unit) {
  const auto found = std::ranges::find(units, unit, &Unit::name);
  return found != units.end() && found->quantity == Quantity::seconds ? found->size : 0;
}

double typed_rounding(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const std::string_view digits(text, static_cast<std::size_t>(end - text));
  const std::size_t exponent = digits.find('e'), point = digits.find('.');
  const std::size_t decimals = point < exponent ? exponent - point - 1 : 0;
  const std::size_t sign = digits[exponent + 1] == '+' ? 1 : 0;
  int power = 0;
  std::from_chars(text + exponent + 1 + sign, end, power);
  return std::min(0.5 * std::pow(10.0, power - static_cast<int>(decimals)), 0.01 * std::abs(value));
}

bool can_agree(const Quoted& stated, double computed, double half_width) {
  // The last bits of products of decimal fractions are no contradiction.
  const double slack = 1e-12 * std::max(std::abs(stated.value), std::abs(computed));
  return std::abs(stated.value - computed) <= stated.rounding + half_width + slack;
}

}  // namespace assay
