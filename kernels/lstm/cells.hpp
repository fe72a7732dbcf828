// The code of each SIMD tier for the cells of a row, which `fused` and `threaded` run.
#pragma once

#include "gemm/blocked.hpp"
#include "tiers.hpp"

#include <vector>

namespace assay::lstm {

/// One tier's code for a row of the batch in one step, and its products.
struct Tier : NamedTier {
  /// `gates` holds z without its biases, and then the gates.
  void (*row)(const float* bias, const float* c_before, Index hidden, float* gates, float* c,
              float* y) = nullptr;
  /// `dh` is what arrives at h from the step after; `arrived` holds what arrives at c, and then what leaves
  /// for the step before.
  void (*row_gradient)(const float* dy, const float* dh, const float* gates, const float* c,
                       const float* c_before, Index hidden, float* arrived, float* dz, float* dc) = nullptr;
  blocked::Tier products = {};
};
std::vector<Tier> tiers();

}  // namespace assay::lstm
