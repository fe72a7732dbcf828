// Divides the layers of a chain into segments, whose first activations are kept.
#pragma once

#include "assay/problem.hpp"

namespace assay::checkpointing {

struct Segments {
  Index layers = 1;
  Index length = 1;  ///< layers of a segment but for the last: the root of their number, rounded up

  explicit constexpr Segments(Index its_layers) : layers(its_layers) {
    while (length * length < layers) ++length;
  }
  constexpr Index count() const { return (layers + length - 1) / length; }
  /// Activations in memory at once: those before the segments, without x, and those inside a segment.
  constexpr Index kept() const { return count() - 1 + length - 1; }
};

}  // namespace assay::checkpointing
