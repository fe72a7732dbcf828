// The loops that roofs and noise are measured with, in the widest vectors of this processor.
#pragma once

#include <cstddef>

namespace assay::roof {

// Counts given to the streaming loops are multiples of this: four of the longest vectors there are,
// 2,048 bits.
inline constexpr std::size_t stream_step = 256;

// out = a * b: two reads and one write per element, through the caches.
void multiply(const float* a, const float* b, float* out, std::size_t count);
// The same with stores that go past the caches, which spares reading the lines of `out` before writing them.
void multiply_past_caches(const float* a, const float* b, float* out, std::size_t count);

// out = out * a: the same traffic without a line that is written and was not read.
void multiply_in_place(const float* a, const float* b, float* out, std::size_t count);

// Fused multiply-adds on registers alone. Returns the floating-point operations done, two per element;
// `sink` receives a value that depends on all of them.
double multiply_add(std::size_t rounds, float& sink);

}  // namespace assay::roof
