// The peer: cblas_sgemm of the linked OpenBLAS. OpenBLAS picks its kernels by processor when it is loaded,
// and not always the best; the environment variable OPENBLAS_CORETYPE overrides the choice.

#include "openblas.hpp"

namespace assay {

const Register registered{[](Registry& r) {
  openblas::add_peer<Gemm>(r, "cblas_sgemm of the linked OpenBLAS",
                           [](const Gemm::Problem& p, const auto& in, auto& out, int threads) {
                             openblas::multiply(blocked::product_of(p, in, out.c.data()), threads);
                           });
}};

}  // namespace assay
