// Extents cut into blocks: equal blocks for loops, equal parts for threads. Code compiled for a SIMD target
// may call the constexpr functions, since they use nothing of the standard library (tiers.hpp).
#pragma once

#include "assay/problem.hpp"

#include <algorithm>

namespace assay {

constexpr Index smaller(Index x, Index y) { return x < y ? x : y; }

/// The number of blocks of `unit` that hold x.
constexpr Index pieces(Index x, Index unit) { return (x + unit - 1) / unit; }
constexpr Index rounded_up(Index x, Index unit) { return pieces(x, unit) * unit; }

/// The size of the next block when `left` is divided into equal blocks of at most `most`.
constexpr Index next_block(Index left, Index most) { return pieces(left, pieces(left, most)); }
/// The same in multiples of `unit`, unless one block holds all.
constexpr Index next_block(Index left, Index most, Index unit) {
  if (left <= most) return left;
  return smaller(most, rounded_up(next_block(left, most), unit));
}

/// The beginning of part `i` of `parts` equal parts of an extent, a multiple of `unit`.
inline Index cut(Index extent, Index unit, Index i, Index parts) {
  const Index units = (extent + unit - 1) / unit;
  return std::min(extent, units * i / parts * unit);
}

}  // namespace assay
