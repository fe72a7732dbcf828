// The peer: dnnl_sgemm of the oneDNN the program is linked with, which makes its code for the processor and
// the shape when it is first called.

#include "onednn.hpp"

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace {

Variant<Gemm>::Kernel prepare(const Gemm::Problem& p, const Gemm::Input&, const Context& context) {
  return [p, threads = context.threads](const Gemm::Input& in, Gemm::Output& out) {
    onednn::use_threads(threads);
    onednn::demand(dnnl_sgemm(p.a_transposed() ? 'T' : 'N', p.b_transposed() ? 'T' : 'N', p.m, p.n, p.k,
                              static_cast<float>(p.alpha), in.a.data(), p.a_transposed() ? p.m : p.k,
                              in.b.data(), p.b_transposed() ? p.k : p.n, static_cast<float>(p.beta),
                              out.c.data(), p.n));
  };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "onednn",
               .summary = "dnnl_sgemm of the linked oneDNN",
               .libraries = {"onednn"},
               .threaded = true,
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay
