// The idea: put the loop over columns innermost, so that rows of B and C are walked with stride one and the
// compiler vectorises the update. Helps while a row of B stays in cache; op(B) = B^T is walked across
// instead.

#include "assay/ops/gemm.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace {

void run(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const float* a = in.a.data();
  const float* b = in.b.data();
  const Index a_row = p.a_transposed() ? 1 : p.k, a_step = p.a_transposed() ? p.m : 1;
  const Index b_row = p.b_transposed() ? 1 : p.n, b_step = p.b_transposed() ? p.k : 1;
  for (Index i = 0; i < p.m; ++i) {
    float* c = out.c.data() + i * p.n;
    if (p.beta == 0) {
      for (Index j = 0; j < p.n; ++j) c[j] = 0;
    } else {
      for (Index j = 0; j < p.n; ++j) c[j] *= static_cast<float>(p.beta);
    }
    for (Index l = 0; l < p.k; ++l) {
      const float scaled = static_cast<float>(p.alpha) * a[i * a_row + l * a_step];
      const float* row = b + l * b_row;
      for (Index j = 0; j < p.n; ++j) c[j] += scaled * row[j * b_step];
    }
  }
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "reordered", .summary = "columns innermost: stride-one rows, vectorised", .run = run});
}};

}  // namespace
}  // namespace assay
