// How one thread multiplies products, small ones without blocks. `auto` picks by the same rule for gemm, and
// operations that consist of products run it.
#pragma once

#include "gemm/blocked.hpp"
#include "tiers.hpp"

#include <string_view>

namespace assay::blocked {

struct Way {
  std::string_view variant;  ///< the variant of gemm
  void (*multiply)(const Product& product, float* space) = nullptr;
  Index (*space_floats)(const Product& product) = nullptr;
};

/// Looks at the shape alone, not at addresses, alpha and beta. `small` transposes each transposed B. Vectors
/// are taken to be the widest.
inline Way way_of(const Tier& tier, const Product& shape) {
  if (is_small(shape.m, shape.n, shape.k) && !is_better_turned(shape, 16)) {
    return {"small", tier.multiply_small, tier.small_space_floats};
  }
  return {"simd", tier.multiply, tier.space_floats};
}

/// Makes the kernel of a whole problem on one thread.
inline Variant<Gemm>::Kernel kernel_of(const Way& way, const Gemm::Problem& p, const Gemm::Input& in) {
  const Index floats = way.space_floats(product_of(p, in, nullptr));
  return [multiply = way.multiply, p, space = Buffer<float>(floats)](const auto& now, auto& out) mutable {
    multiply(product_of(p, now, out.c.data()), space.data());
  };
}

/// Products of planned shapes, and space for the largest.
class Products {
 public:
  explicit Products(const Tier& tier = best_of(tiers())) : tier_(tier) {}
  /// Makes room for products of this shape; addresses do not matter.
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
