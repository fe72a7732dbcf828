// How one thread multiplies products, small ones without blocks: what `auto` picks for gemm, and what the
// operations that are made of products run.
#pragma once

#include "gemm/blocked.hpp"
#include "tiers.hpp"

#include <string_view>

namespace assay::blocked {

struct Way {
  std::string_view variant;  ///< of gemm
  void (*multiply)(const Product& product, float* space) = nullptr;
  Index (*space_floats)(const Product& product) = nullptr;
};

/// Neither addresses nor alpha and beta count. `small` turns each transposed B.
inline Way way_of(const Tier& tier, const Product& shape) {
  if (is_small(shape.m, shape.n, shape.k) && !is_better_turned(shape)) {
    return {"small", tier.multiply_small, tier.small_space_floats};
  }
  return {"simd", tier.multiply, tier.space_floats};
}

/// Products of planned shapes, and space for the largest.
class Products {
 public:
  explicit Products(const Tier& tier = best_of(tiers())) : tier_(tier) {}
  /// Makes room for products like this one, whose addresses do not count.
  void plan(const Product& shape) {
    const Index floats = way_of(tier_, shape).space_floats(shape);
    if (floats > space_.size()) space_ = Buffer<float>(floats);
  }
  void run(const Product& product) { way_of(tier_, product).multiply(product, space_.data()); }

 private:
  Tier tier_;
  Buffer<float> space_;
};

}  // namespace assay::blocked
