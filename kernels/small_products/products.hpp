// The layer that the variants of small_products share: a product of some samples, and the centring of their
// rows.
#pragma once

#include "gemm/products.hpp"
#include "tiers.hpp"

#include "assay/ops/gemm.hpp"

namespace assay::small_products {

/// The layer over `samples` samples at a time, by the best tier.
class Layer {
 public:
  Layer(const SmallProducts::Problem& p, Index samples) : p_(p), samples_(samples), mean_(p.n) {
    shape_ = {.m = samples * p.rows, .n = p.n, .k = p.k, .lda = p.k, .ldb = p.n, .ldc = p.n};
    products_.plan(shape_);
  }

  void operator()(const SmallProducts::Input& in, SmallProducts::Output& out) {
    for (Index s = 0; s < p_.samples; s += samples_) {
      float* const y = out.y.data() + s * p_.rows * p_.n;
      products_.run(blocked::with(shape_, in.x.data() + s * p_.rows * p_.k, in.w.data(), y));
      for (Index each = 0; each < samples_; ++each) centre(y + each * p_.rows * p_.n);
    }
  }

 private:
  void centre(float* __restrict y) {
    float* __restrict const mean = mean_.data();
    const float share = 1 / static_cast<float>(p_.rows);
    for (Index j = 0; j < p_.n; ++j) mean[j] = 0;
    for (Index i = 0; i < p_.rows; ++i) {
      for (Index j = 0; j < p_.n; ++j) mean[j] += y[i * p_.n + j];
    }
    for (Index j = 0; j < p_.n; ++j) mean[j] *= share;
    for (Index i = 0; i < p_.rows; ++i) {
      for (Index j = 0; j < p_.n; ++j) y[i * p_.n + j] -= mean[j];
    }
  }

  SmallProducts::Problem p_;
  Index samples_;
  blocked::Products products_;
  blocked::Product shape_;
  Buffer<float> mean_;
};

/// A variant's prepare() over `samples` samples at a time; 0 stands for all of them.
inline auto layer_of(Index samples) {
  return [samples](const SmallProducts::Problem& p, const SmallProducts::Input&, const Context&) {
    return Layer(p, samples == 0 ? p.samples : samples);
  };
}

}  // namespace assay::small_products
