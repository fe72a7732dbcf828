#include "core/plugin/half.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace assay {

std::uint16_t to_f16(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const float size = std::abs(value);
  constexpr std::uint16_t infinity = 0x7c00, quiet = 0x7e00;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | quiet);
  if (size >= 65520.0F) return static_cast<std::uint16_t>(sign | infinity);
  int exponent = 0;
  std::frexp(size, &exponent);  // size < 2^exponent
  // Units in the last place are 2^-24 below the normal range, from 2^-14 down.
  const int unit = exponent - 11 < -24 ? -24 : exponent - 11;
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -unit)));
  // A sum that carries into the exponent is right as well.
  const std::uint32_t bits = unit == -24 ? units : (static_cast<std::uint32_t>(unit + 24) << 10) + units;
  return static_cast<std::uint16_t>(sign | bits);
}

float from_f16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 0x3ff;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  }
  const float units = static_cast<float>(exponent == 0 ? fraction : fraction + 1024);
  return sign * std::ldexp(units, (exponent == 0 ? 1 : exponent) - 25);
}

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  constexpr std::uint16_t quiet = 0x40;
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | quiet);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace assay
