// The product of one pair of a batch, planned once. `simd` and `threaded` call it for each pair.
#pragma once

#include "gemm/products.hpp"

namespace assay::batched_gemm {

using Problem = BatchedGemm::Problem;

struct Plan {
  Problem problem;
  blocked::Product first;  ///< the product of a pair, without addresses
  void (*multiply)(const blocked::Product& product, float* space) = nullptr;
  Index space_floats = 0;

  Plan(const Problem& p, const blocked::Tier& tier)
      : problem(p),
        first(blocked::product({nullptr, p.a_transposed() ? p.m : p.k, p.a_transposed()},
                               {nullptr, p.b_transposed() ? p.k : p.n, p.b_transposed()}, nullptr, p.n, p.m,
                               p.n, p.k)) {
    const blocked::Way way = blocked::way_of(tier, first);
    multiply = way.multiply;
    space_floats = way.space_floats(first);
  }

  void run(const BatchedGemm::Input& in, BatchedGemm::Output& out, Index begin, Index end,
           float* space) const {
    blocked::Product product = first;
    const Index a_size = product.m * product.k, b_size = product.k * product.n,
                c_size = product.m * product.n;
    for (Index i = begin; i < end; ++i) {
      product.a = in.a.data() + i * a_size;
      product.b = in.b.data() + i * b_size;
      product.c = out.c.data() + i * c_size;
      multiply(product, space);
    }
  }
};

}  // namespace assay::batched_gemm
