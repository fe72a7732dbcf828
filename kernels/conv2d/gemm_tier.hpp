// The project's own product of matrices, as the variants of convolution that are one call it.
#pragma once

#include "gemm/blocked.hpp"

namespace assay::conv2d {

/// The best tier that runs here.
inline blocked::Tier best_gemm_tier() {
  for (blocked::Tier& tier : blocked::tiers()) {
    if (!tier.unfit) return tier;
  }
  return {};  // does not happen: the portable tier runs everywhere
}

}  // namespace assay::conv2d
