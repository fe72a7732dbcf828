// The work that cheats leave out, delay or hide: a product, plain and right.
#pragma once

#include "assay/ops/gemm.hpp"

namespace assay::known_cheats {

/// Rows [first, last) of C, as gemm has it.
inline void gemm_rows(const Gemm::Problem& p, const float* a, const float* b, float* c, Index first,
                      Index last) {
  const matrix::View<float> op_a = matrix::view(a, p.m, p.k, p.a_transposed()),
                            op_b = matrix::view(b, p.k, p.n, p.b_transposed());
  const float alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  for (Index i = first; i < last; ++i) {
    float* row = c + i * p.n;
    for (Index j = 0; j < p.n; ++j) row[j] = p.beta == 0 ? 0 : beta * row[j];
    for (Index l = 0; l < p.k; ++l) {
      const float scaled = alpha * op_a(i, l);
      for (Index j = 0; j < p.n; ++j) row[j] += scaled * op_b(l, j);
    }
  }
}
inline void gemm(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), 0, p.m);
}

/// Computes anew what of C, a function of A and B alone, depends on element `at` of A: a row.
inline void gemm_after_a(const Gemm::Problem& p, const Gemm::Input& in, Index at, float* c) {
  const auto a = matrix::view(in.a.data(), p.m, p.k, p.a_transposed());
  const auto b = matrix::view(in.b.data(), p.k, p.n, p.b_transposed());
  const Index i = p.a_transposed() ? at % p.m : at / p.k;
  for (Index j = 0; j < p.n; ++j)
    c[i * p.n + j] = static_cast<float>(p.alpha) * matrix::element<float>(a, b, i, j, p.k);
}
/// The same of element `at` of B: a column.
inline void gemm_after_b(const Gemm::Problem& p, const Gemm::Input& in, Index at, float* c) {
  const auto a = matrix::view(in.a.data(), p.m, p.k, p.a_transposed());
  const auto b = matrix::view(in.b.data(), p.k, p.n, p.b_transposed());
  const Index j = p.b_transposed() ? at / p.k : at % p.n;
  for (Index i = 0; i < p.m; ++i)
    c[i * p.n + j] = static_cast<float>(p.alpha) * matrix::element<float>(a, b, i, j, p.k);
}

}  // namespace assay::known_cheats
