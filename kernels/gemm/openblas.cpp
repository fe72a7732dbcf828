// The peer: cblas_sgemm of the OpenBLAS the program is linked with. OpenBLAS picks its kernels by processor
// when it is loaded, and not always the best: OPENBLAS_CORETYPE in the environment overrides the choice.

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

#include <cblas.h>

namespace assay {
namespace {

Variant<Gemm>::Kernel prepare(const Gemm::Problem& p, const Gemm::Input&, const Context& context) {
  return [p, threads = context.threads](const Gemm::Input& in, Gemm::Output& out) {
    // The number is global to the library, so a trial with another number may have run in between.
    if (openblas_get_num_threads() != threads) openblas_set_num_threads(threads);
    const auto m = static_cast<blasint>(p.m), n = static_cast<blasint>(p.n), k = static_cast<blasint>(p.k);
    cblas_sgemm(CblasRowMajor, p.a_transposed() ? CblasTrans : CblasNoTrans,
                p.b_transposed() ? CblasTrans : CblasNoTrans, m, n, k, static_cast<float>(p.alpha),
                in.a.data(), p.a_transposed() ? m : k, in.b.data(), p.b_transposed() ? k : n,
                static_cast<float>(p.beta), out.c.data(), n);
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "openblas",
               .summary = "cblas_sgemm of the linked OpenBLAS",
               .libraries = {"openblas"},
               .threaded = true,
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay
