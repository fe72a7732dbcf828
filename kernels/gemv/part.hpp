// The product behind the variants `simd` and `threaded` of gemv: part of y per call.
#pragma once

#include "tiers.hpp"

#include "assay/ops/gemm.hpp"

#include <vector>

namespace assay::gemv {

/// y[begin, end) of y = A x for A[m, n], or of y = A^T x.
struct Part {
  const float* a = nullptr;
  const float* x = nullptr;
  float* y = nullptr;
  Index m = 0, n = 0;
  bool transposed = false;
  Index begin = 0, end = 0;
};

/// The elements [begin, end) of y of a problem.
inline Part part_of(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out, Index begin,
                    Index end) {
  return {in.a.data(), in.x.data(), out.y.data(), p.m, p.n, p.transposed(), begin, end};
}

using Tier = assay::Tier<void(const Part& part)>;
std::vector<Tier> tiers();

}  // namespace assay::gemv
