// The peer: cblas_sgemm for each pair. OpenBLAS 0.3.21 has no batched product; it divides each pair among its
// threads above a size of its own.

#include "openblas.hpp"

namespace assay {

const Register registered{[](Registry& r) {
  const auto run = [](const BatchedGemm::Problem& p, const auto& in, auto& out, int threads) {
    openblas::use_threads(threads);
    const auto m = static_cast<blasint>(p.m), n = static_cast<blasint>(p.n), k = static_cast<blasint>(p.k);
    for (Index i = 0; i < p.batch; ++i) {
      cblas_sgemm(CblasRowMajor, p.a_transposed() ? CblasTrans : CblasNoTrans,
                  p.b_transposed() ? CblasTrans : CblasNoTrans, m, n, k, 1, in.a.data() + i * p.m * p.k,
                  p.a_transposed() ? m : k, in.b.data() + i * p.k * p.n, p.b_transposed() ? k : n, 0,
                  out.c.data() + i * p.m * p.n, n);
    }
  };
  openblas::add_peer<BatchedGemm>(r, "cblas_sgemm of the linked OpenBLAS, pair after pair", run);
}};

}  // namespace assay
