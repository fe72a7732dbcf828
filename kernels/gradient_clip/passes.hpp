// The two passes of a tier, which the variants of gradient_clip share.
#pragma once

#include "tiers.hpp"

#include "assay/ops/batch_gradient.hpp"

#include <cmath>
#include <vector>

namespace assay::gradient_clip {

/// The sum of the squares of g[first, last). Partial sums in f32 have at most 64 terms.
using SquaresFunction = double(const float* g, Index first, Index last);
/// y[first, last) = kept g.
using ScaleFunction = void(float kept, const float* g, float* y, Index first, Index last);

struct Tier : NamedTier {
  SquaresFunction* squares = nullptr;
  ScaleFunction* scale = nullptr;
};
std::vector<Tier> tiers();

inline float norm_of(double squares) { return static_cast<float>(std::sqrt(squares)); }

}  // namespace assay::gradient_clip
