// The peer: cblas_sgemv of the OpenBLAS the program is linked with (see gemm/openblas.cpp).

#include "openblas.hpp"

#include "assay/ops/gemm.hpp"

namespace assay {
namespace {

Variant<Gemv>::Kernel prepare(const Gemv::Problem& p, const Gemv::Input&, const Context& context) {
  return [p, threads = context.threads](const Gemv::Input& in, Gemv::Output& out) {
    openblas::use_threads(threads);
    const auto m = static_cast<blasint>(p.m), n = static_cast<blasint>(p.n);
    cblas_sgemv(CblasRowMajor, p.transposed() ? CblasTrans : CblasNoTrans, m, n, 1, in.a.data(), n,
                in.x.data(), 1, 0, out.y.data(), 1);
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "openblas",
               .summary = "cblas_sgemv of the linked OpenBLAS",
               .libraries = {"openblas"},
               .threaded = true,
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay
