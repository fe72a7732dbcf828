// One head of attention by the code of each SIMD tier, and the softmax of a row, which the variants share.
#pragma once

#include "gemm/blocked.hpp"
#include "tiers.hpp"

#include "assay/ops/attention.hpp"

#include <vector>

namespace assay::attention {

/// One head: q, k, v and y are [tokens, d]. A row sees the keys from `first` on, and none after itself if the
/// head is causal. `to_power` scales products to scores, as powers of two. `cache` is the size of the
/// second-level cache in bytes.
struct Head {
  Index tokens = 0, d = 0, first = 0;
  bool causal = false;
  float to_power = 1;
  double cache = 0;
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  float* y = nullptr;

  Index seen() const { return tokens - first; }
};

/// The widths for softmax_row are multiples of this.
inline constexpr Index row_unit = 64;

struct Tier : NamedTier {
  /// `space` holds at least space_floats(head) floats and starts on a cache line.
  void (*head)(const Head&, float* space) = nullptr;
  Index (*space_floats)(const Head&) = nullptr;
  /// Turns `width` scores, powers of two, into shares that add up to 1. Hidden scores are -infinity; if all
  /// are hidden, all shares are 0.
  void (*softmax_row)(float* scores, Index width) = nullptr;
  blocked::Tier products;
};
/// Every SIMD tier that was built, best first. Defined in online.cpp.
std::vector<Tier> tiers();

/// The variant `online` by a tier that runs here. A block of scores takes a quarter of `cache`, the size of
/// the second-level cache in bytes.
Variant<Attention>::Kernel run_online(const Tier& tier, const Attention::Problem& p, double cache);

/// log2(e) / sqrt(d), which scales a product so that 2 to its power is the exponential of the score.
float to_powers_of_two(const Attention::Problem& p);

}  // namespace assay::attention
