// The idea: everything that does not depend on the parameter leaves the loop. The corrections become two
// constants (step.hpp), which leaves one division of three.

#include "adamw/step.hpp"

namespace assay::adamw {
namespace {

void steps(const StepConstants& k, const float* __restrict g, float* __restrict p, float* __restrict m,
           float* __restrict v, Index count) {
  const auto [first_keep, first_gain, second_keep, second_gain, decay, rate, inner, outer] = k;
  for (Index i = 0; i < count; ++i) {
    const float new_m = first_keep * m[i] + first_gain * g[i];
    const float new_v = second_keep * v[i] + second_gain * (g[i] * g[i]);
    m[i] = new_m;
    v[i] = new_v;
    p[i] = (p[i] - decay * p[i]) - rate * new_m / (std::sqrt(new_v + inner) + outer);
  }
}

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    const auto prepare = [](const auto& problem, const auto&, const Context&) {
      return [k = step_constants<Formula>(problem.t), n = problem.n](const auto& in, auto& out) {
        const Arrays at = arrays(in, out);
        steps(k, at.g, at.p, at.m, at.v, n);
      };
    };
    r.add<AdamW<Formula>>({.name = "hoisted",
                           .summary = "one division per parameter, compiler-vectorised",
                           .prepare = prepare});
  });
}};

}  // namespace
}  // namespace assay::adamw
