// The peer: dnnl_sgemm of the oneDNN the program is linked with, which makes its code for the processor and
// the shape when it is first called.

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

#include <dnnl.h>
#include <omp.h>

namespace assay {
namespace {

Variant<Gemm>::Kernel prepare(const Gemm::Problem& p, const Gemm::Input&, const Context& context) {
  return [p, threads = context.threads](const Gemm::Input& in, Gemm::Output& out) {
    // oneDNN takes as many threads as OpenMP would, and the number is global to the thread that calls.
    if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
    dnnl_sgemm(p.a_transposed() ? 'T' : 'N', p.b_transposed() ? 'T' : 'N', p.m, p.n, p.k,
               static_cast<float>(p.alpha), in.a.data(), p.a_transposed() ? p.m : p.k, in.b.data(),
               p.b_transposed() ? p.k : p.n, static_cast<float>(p.beta), out.c.data(), p.n);
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
