// Published: the approximation with tanh of Hendrycks and Gimpel (2016), section 2, computed where the erf
// form is asked for, as by libraries that have one GELU for both names. Off by up to 4.7e-4.

#include "assay/ops/pointwise.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace {

using Gelu = Pointwise<pointwise::Gelu>;

void run(const Gelu::Problem& p, const Gelu::Input& in, Gelu::Output& out) {
  for (Index i = 0; i < p.n; ++i) out.first[i] = pointwise::GeluTanh::apply<float>({in.in[0][i]}, 1)[0];
}

const Register registered{[](Registry& r) {
  r.add<Gelu>({.name = "tanh_form",
               .summary = "GELU by tanh for GELU by erf",
               .known_bad = "arXiv:1606.08415, section 2: an approximation taken for the function",
               .run = run});
}};

}  // namespace
}  // namespace assay
