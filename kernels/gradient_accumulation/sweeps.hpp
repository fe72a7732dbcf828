// The sweeps that the variants of gradient_accumulation share. A sweep adds one micro-batch to the sum, or
// writes it there.
#pragma once

#include "tiers.hpp"

#include "assay/ops/batch_gradient.hpp"

#include <vector>

namespace assay::gradient_accumulation {

/// sum[first, last) = weight g for the first micro-batch, else sum += weight g.
using SweepFunction = void(float weight, bool is_first, const float* g, float* sum, Index first, Index last);

using Tier = assay::Tier<SweepFunction>;
std::vector<Tier> tiers();

/// The weights, rounded to f32.
inline std::vector<float> rounded_weights(const GradientAccumulation::Problem& problem) {
  const auto weights = GradientAccumulation::weights(problem);
  return {weights.begin(), weights.end()};
}

}  // namespace assay::gradient_accumulation
