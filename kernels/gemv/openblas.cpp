// The peer: cblas_sgemv of the OpenBLAS the program is linked with (see gemm/openblas.cpp).

#include "openblas.hpp"

#include "assay/ops/gemm.hpp"

namespace assay {

const Register registered{[](Registry& r) {
  const auto run = [](const Gemv::Problem& p, const auto& in, auto& out, int threads) {
    openblas::use_threads(threads);
    const auto m = static_cast<blasint>(p.m), n = static_cast<blasint>(p.n);
    cblas_sgemv(CblasRowMajor, p.transposed() ? CblasTrans : CblasNoTrans, m, n, 1, in.a.data(), n,
                in.x.data(), 1, 0, out.y.data(), 1);
  };
  openblas::add_peer<Gemv>(r, "cblas_sgemv of the linked OpenBLAS", run);
}};

}  // namespace assay
