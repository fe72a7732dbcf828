// Published: x / 2 (1 + erf(x / sqrt(2))) term by term in single precision, as in many frameworks' kernels.
// On the left 1 + erf cancels: at x = -5 one digit is left, below -5.6 none; and at -infinity it is NaN.

#include "assay/ops/pointwise.hpp"
#include "assay/registry.hpp"

#include <cmath>
#include <numbers>

namespace assay {
namespace {

using Gelu = Pointwise<pointwise::Gelu>;

void run(const Gelu::Problem& p, const Gelu::Input& in, Gelu::Output& out) {
  for (Index i = 0; i < p.n; ++i) {
    const float x = in.in[0][i];
    out.first[i] = 0.5F * x * (1 + std::erf(x * (std::numbers::sqrt2_v<float> / 2)));
  }
}

const Register registered{[](Registry& r) {
  r.add<Gelu>({.name = "erf_tail",
               .summary = "x / 2 (1 + erf), which cancels on the left",
               .known_bad = "common in frameworks: no digit is left below x = -5.6, and NaN at -infinity",
               .run = run});
}};

}  // namespace
}  // namespace assay
