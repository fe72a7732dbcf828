// A product that does less where its input allows it, and answers otherwise where it does not.

#include "assay/ops/gemv.hpp"
#include "assay/registry.hpp"

#include <algorithm>

namespace assay {
namespace {

// Published: passes over a column of A whose x is 0, as the reference BLAS did in DGEMV and DGEMM for
// decades. A NaN or an infinity in that column is lost.
void skips_zeros(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const auto a = matrix::view(in.a.data(), p.results(), p.terms(), p.transposed());
  std::ranges::fill(out.y, 0.0F);
  for (Index l = 0; l < p.terms(); ++l) {
    if (in.x[l] == 0) continue;
    for (Index i = 0; i < p.results(); ++i) out.y[i] += a(i, l) * in.x[l];
  }
}

const Register registered{[](Registry& r) {
  r.add<Gemv>({.name = "skips_zeros",
               .summary = "passes over columns that a zero multiplies",
               .known_bad = "Reference-LAPACK/lapack issue 179: 0 NaN and 0 inf are left out",
               .run = skips_zeros});
}};

}  // namespace
}  // namespace assay
