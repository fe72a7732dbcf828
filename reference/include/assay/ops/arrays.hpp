/// Arrays of a problem: how large they are, and inputs of the numbers of a fill.
#pragma once

#include "assay/operation.hpp"

#include <array>
#include <concepts>
#include <limits>

namespace assay {

/// The product of extents, which may exceed an Index.
inline double product(std::same_as<Index> auto... extents) { return (... * static_cast<double>(extents)); }

/// `count` numbers of the fill.
inline Buffer<float> drawn(Index count, Setting& setting) {
  Buffer<float> out = setting.buffer<float>(count);
  for (float& x : out) x = setting.draw();
  return out;
}

/// Gives `count` drawn elements the values infinity, NaN and -infinity, one after the other.
inline void make_some_infinite(Buffer<float>& x, Index count, Rng& rng) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  infinity = std::numeric_limits<float>::infinity();
  constexpr std::array<float, 3> values{infinity, nan, -infinity};
  for (Index i = 0; i < count; ++i) {
    x[rng.integer(0, x.size() - 1)] = values[static_cast<std::size_t>(i) % values.size()];
  }
}

}  // namespace assay
