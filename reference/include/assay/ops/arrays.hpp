/// Arrays of a problem: how large they are, and inputs of the numbers of a fill.
#pragma once

#include "assay/operation.hpp"

#include <concepts>

namespace assay {

/// The product of extents, which may exceed an Index.
inline double product(std::same_as<Index> auto... extents) { return (... * static_cast<double>(extents)); }

/// `count` numbers of the fill.
inline Buffer<float> drawn(Index count, Setting& setting) {
  Buffer<float> out = setting.buffer<float>(count);
  for (float& x : out) x = setting.draw();
  return out;
}

}  // namespace assay
