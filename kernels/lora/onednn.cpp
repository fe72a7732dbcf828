// The peer: the products of `fused` by dnnl_sgemm of the linked oneDNN, as `openblas` has them.

#include "onednn.hpp"
#include "lora/products.hpp"

namespace assay::lora {
namespace {

void multiply(const blocked::Product& p, int threads) {
  onednn::use_threads(threads);
  onednn::demand(dnnl_sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.m, p.n, p.k, p.alpha,
                            p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc));
}

const Register registered{
    [](Registry& r) { add_peer(r, "onednn", "its products by dnnl_sgemm of the linked oneDNN", multiply); }};

}  // namespace
}  // namespace assay::lora
