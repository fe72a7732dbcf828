// The peer: cblas_sgemm of the linked OpenBLAS. OpenBLAS picks its kernels by processor when it is loaded,
// and not always the best; the environment variable OPENBLAS_CORETYPE overrides the choice.

#include "openblas.hpp"

namespace assay {
namespace {

Variant<Gemm>::Kernel prepare(const Gemm::Problem& p, const Gemm::Input&, const Context& context) {
  return [p, threads = context.threads](const Gemm::Input& in, Gemm::Output& out) {
    openblas::multiply(blocked::product_of(p, in, out.c.data()), threads);
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
