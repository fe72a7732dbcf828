// What the variants of attention share: products of small matrices, and the softmax of rows of scores.
#pragma once

#include "gemm/blocked.hpp"
#include "tiers.hpp"

#include "assay/ops/attention.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace assay::attention {

/// Turns the first `width` scores of a row, without their scale, into powers and rescales what was summed
/// before, `d` floats at y. A score that is not to be seen is -infinity. `width` is a multiple of 16.
/// `largest` and `sum` are those of the row so far: -infinity and 0 at first.
using OnlineRow = void(float* scores, Index width, float scale, float* largest, float* sum, float* y,
                       Index d);

struct Tier {
  std::string name;
  std::optional<std::string> unfit;
  OnlineRow* online_row = nullptr;
  blocked::Tier products;
};
/// Every SIMD tier that was built, best first. Defined in online.cpp.
std::vector<Tier> tiers();

/// Products with a workspace for the largest of those that were planned.
class Products {
 public:
  explicit Products(const blocked::Tier& tier) : tier_(tier) {}
  void plan(const blocked::Product& shape) {
    const bool small = blocked::is_small(shape.m, shape.n, shape.k);
    const Index floats = small ? tier_.small_space_floats(shape) : tier_.space_floats(shape);
    if (floats > space_.size()) space_ = Buffer<float>(floats);
  }
  void run(const blocked::Product& product) {
    const bool small = blocked::is_small(product.m, product.n, product.k);
    (small ? tier_.multiply_small : tier_.multiply)(product, space_.data());
  }

 private:
  blocked::Tier tier_;
  Buffer<float> space_;
};

/// Makes scores that a row of the mask does not see -infinity, those of the keys [key, key + width) at
/// `scores`.
inline void hide(const Attention::Problem& p, Index row, Index key, Index width, float* scores) {
  const Index first = std::clamp(p.first_key() - key, Index{0}, width);
  const Index end = std::clamp(p.keys_end(row) - key, first, width);
  constexpr float hidden = -std::numeric_limits<float>::infinity();
  for (Index j = 0; j < first; ++j) scores[j] = hidden;
  for (Index j = end; j < width; ++j) scores[j] = hidden;
}

}  // namespace assay::attention
