// GELU as libraries have it, and not to the bound of its erf form.

#include "assay/ops/pointwise.hpp"
#include "assay/registry.hpp"

#include <cmath>
#include <numbers>

namespace assay {
namespace {

using Gelu = Pointwise<pointwise::Gelu>;

// Published: x / 2 (1 + erf(x / sqrt(2))) term by term in single precision, as in many frameworks' kernels.
// On the left 1 + erf cancels: at x = -5 one digit is left, below -5.6 none, and at -infinity it is NaN.
void erf_tail(const Gelu::Problem& p, const Gelu::Input& in, Gelu::Output& out) {
  for (Index i = 0; i < p.n; ++i) {
    const float x = in.in[0][i];
    out.first[i] = 0.5F * x * (1 + std::erf(x * (std::numbers::sqrt2_v<float> / 2)));
  }
}

// Published: the approximation with tanh of Hendrycks and Gimpel (2016), section 2, in place of the erf form,
// as in libraries that have one GELU for both names. It is off by up to 4.7e-4.
void tanh_form(const Gelu::Problem& p, const Gelu::Input& in, Gelu::Output& out) {
  for (Index i = 0; i < p.n; ++i) out.first[i] = pointwise::GeluTanh::apply<float>({in.in[0][i]}, 1)[0];
}

const Register registered{[](Registry& r) {
  r.add<Gelu>({.name = "erf_tail",
               .summary = "x / 2 (1 + erf), which cancels on the left",
               .known_bad = "common in frameworks: no digit is left below x = -5.6, and NaN at -infinity",
               .run = erf_tail});
  r.add<Gelu>({.name = "tanh_form",
               .summary = "GELU by tanh for GELU by erf",
               .known_bad = "arXiv:1606.08415, section 2: an approximation taken for the function",
               .run = tanh_form});
}};

}  // namespace
}  // namespace assay
