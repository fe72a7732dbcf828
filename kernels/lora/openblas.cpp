// The peer: the products of `fused` by cblas_sgemm of the linked OpenBLAS, s in the narrow ones and beta = 1
// in those that are added. A framework composes an adapter likewise, most with s as a pass of its own.

#include "lora/products.hpp"

#include <cblas.h>

namespace assay::lora {
namespace {

void multiply(const blocked::Product& p, int threads) {
  // The number is global to the library, so a trial with another number may have run in between.
  if (openblas_get_num_threads() != threads) openblas_set_num_threads(threads);
  cblas_sgemm(CblasRowMajor, p.a_transposed ? CblasTrans : CblasNoTrans,
              p.b_transposed ? CblasTrans : CblasNoTrans, static_cast<blasint>(p.m),
              static_cast<blasint>(p.n), static_cast<blasint>(p.k), p.alpha, p.a, static_cast<blasint>(p.lda),
              p.b, static_cast<blasint>(p.ldb), p.beta, p.c, static_cast<blasint>(p.ldc));
}

const Register registered{[](Registry& r) {
  add_peer(r, "openblas", "its products by cblas_sgemm of the linked OpenBLAS", multiply);
}};

}  // namespace
}  // namespace assay::lora
