/// The loops that roofs and noise are measured with, in the widest vectors of this processor.
#pragma once

#include <cstddef>

namespace assay::roof {

/// Counts given to the streaming loops are multiples of this: four of the longest vectors there are,
/// 2,048 bits.
inline constexpr std::size_t stream_step = 256;

/// The streaming loops take three arrays of ones, which they leave as they are. A store to a line that was
/// not read costs the reading of it, unless it goes past the caches.
using StreamingLoop = void (*)(float* a, float* b, float* out, std::size_t count);

enum class Walk {
  add_up,                ///< a + b + out: three reads for each element
  multiply,              ///< out = a * b: two reads and one write
  multiply_past_caches,  ///< the same
  multiply_in_place,     ///< out = out * a: the same traffic, and every line that is written was read
  scale_in_place,        ///< each of the three times a number: three reads and three writes
  scale_past_caches,     ///< out = a times a number: one read and one write
  fill,                  ///< each of the three becomes a number: three writes
  fill_past_caches       ///< the same
};
StreamingLoop loop(Walk walk);

/// Fused multiply-adds on registers alone. Returns the floating-point operations done, two per element;
/// `sink` receives a value that depends on all of them.
double multiply_add(std::size_t rounds, float& sink);

}  // namespace assay::roof
