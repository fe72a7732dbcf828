// The two passes of a tier, and the rule between them, which the variants of gradient_clip share.
#pragma once

#include "tiers.hpp"

#include "assay/ops/batch_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace assay::gradient_clip {

/// The sum of the squares of g[first, last). Partial sums in f32 have at most 64 terms.
using SquaresFunction = double(const float* g, Index first, Index last);
/// y[first, last) = kept g.
using ScaleFunction = void(float kept, const float* g, float* y, Index first, Index last);

struct Tier {
  std::string name;
  SquaresFunction* squares = nullptr;
  ScaleFunction* scale = nullptr;
  std::optional<std::string> unfit;  ///< why it cannot run here
};
std::vector<Tier> tiers();

/// Returns the factor for a gradient: exactly 1 if the norm is below the limit, and NaN if the norm is.
inline float kept_of(float norm) {
  constexpr auto limit = static_cast<float>(GradientClip::limit),
                 floor = static_cast<float>(GradientClip::floor);
  const float factor = limit / (norm + floor);
  return factor >= 1 ? 1.0F : factor;
}

inline float norm_of(double squares) { return static_cast<float>(std::sqrt(squares)); }

}  // namespace assay::gradient_clip
