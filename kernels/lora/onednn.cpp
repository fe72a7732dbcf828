// The peer: the products of `fused` by dnnl_sgemm of the linked oneDNN, as `openblas` has them.

#include "onednn.hpp"
#include "lora/products.hpp"

#include "assay/registry.hpp"

namespace assay::lora {
namespace {

void multiply(const blocked::Product& p) {
  onednn::demand(dnnl_sgemm(p.a_transposed ? 'T' : 'N', p.b_transposed ? 'T' : 'N', p.m, p.n, p.k, p.alpha,
                            p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc));
}

template <class Op>
void add(Registry& r) {
  r.add<Op>({.name = "onednn",
             .summary = "its products by dnnl_sgemm of the linked oneDNN",
             .libraries = {"onednn"},
             .threaded = true,
             .prepare = [](const Problem& p, const typename Op::Input& in, const Context& context) {
               return composed<Op>(p, in, [threads = context.threads](const blocked::Product& product) {
                 onednn::use_threads(threads);
                 multiply(product);
               });
             }});
}

const Register registered{[](Registry& r) {
  add<Lora>(r);
  add<LoraBackward>(r);
}};

}  // namespace
}  // namespace assay::lora
