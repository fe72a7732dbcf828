// Threads and products of OpenBLAS, for the variants `openblas`, and their registration.
#pragma once

#include "gemm/blocked.hpp"

#include <cblas.h>

#include <string_view>

namespace assay::openblas {

/// Sets the number of threads. It is global to the library, so another trial may have changed it.
inline void use_threads(int threads) {
  if (openblas_get_num_threads() != threads) openblas_set_num_threads(threads);
}

inline void multiply(const blocked::Product& p, int threads) {
  use_threads(threads);
  cblas_sgemm(CblasRowMajor, p.a_transposed ? CblasTrans : CblasNoTrans,
              p.b_transposed ? CblasTrans : CblasNoTrans, static_cast<blasint>(p.m),
              static_cast<blasint>(p.n), static_cast<blasint>(p.k), p.alpha, p.a, static_cast<blasint>(p.lda),
              p.b, static_cast<blasint>(p.ldb), p.beta, p.c, static_cast<blasint>(p.ldc));
}

/// Registers the peer of Op. A call is run(problem, input, output, threads).
template <class Op, class Run>
void add_peer(Registry& r, std::string_view summary, const Run& run) {
  r.add<Op>({.name = "openblas",
             .summary = summary,
             .libraries = {"openblas"},
             .threaded = true,
             .prepare = [run](const typename Op::Problem& p, const auto&, const Context& context) {
               return [run, p, threads = context.threads](const auto& in, auto& out) {
                 run(p, in, out, threads);
               };
             }});
}

}  // namespace assay::openblas
