/// Numbers of 16 bits, as values.
#pragma once

#include <cstdint>

namespace assay {

/// IEEE 754 half precision: rounded to nearest, ties to even; too large ones become infinite.
std::uint16_t to_f16(float value);
float from_f16(std::uint16_t bits);

/// The upper half of single precision, rounded likewise.
std::uint16_t to_bf16(float value);
float from_bf16(std::uint16_t bits);

}  // namespace assay
