// The peer: dnnl_sgemm of the linked oneDNN, which generates code for the processor and the shape at its
// first call.

#include "onednn.hpp"

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace {

Variant<Gemm>::Kernel prepare(const Gemm::Problem& p, const Gemm::Input&, const Context& context) {
  return [p, threads = context.threads](const Gemm::Input& in, Gemm::Output& out) {
    onednn::multiply(blocked::part_of(p, in, out.c.data(), 0, p.m, 0, p.n), threads);
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
