// The constants and the SIMD tiers that all AdamW variants share: one loop serves all forms, and `simd`,
// `streaming` and `threaded` run the same machine code.
#pragma once

#include "tiers.hpp"

#include "assay/ops/adamw.hpp"

#include <type_traits>
#include <vector>

namespace assay::adamw {

/// All forms are p = (p - decay p) - rate m / (sqrt(v + inner) + outer), where one of both is zero. In the
/// form of the paper, m_hat and v_hat are m and v times constants, which are drawn out of the root and the
/// quotient:
///   lr (m / c1) / (sqrt(v / c2) + eps) = (lr sqrt(c2) / c1) m / (sqrt(v) + eps sqrt(c2)),
/// and with epsilon inside the root it is eps c2 that is added to v. That saves two of three divisions per
/// parameter. Adding the zero of the two changes nothing: v is never -0.
struct StepConstants {
  float first_keep, first_gain, second_keep, second_gain, decay, rate, inner, outer;
};

template <class Formula>
StepConstants step_constants(Index t) {
  const Constants<double> k(t);
  double inner = 0, outer = k.epsilon;
  if constexpr (std::is_same_v<Formula, Paper>) outer *= std::sqrt(k.second_correction);
  if constexpr (std::is_same_v<Formula, EpsilonInside>) {
    inner = k.epsilon * k.second_correction;
    outer = 0;
  }
  const Constants<float> rounded(t);
  return {.first_keep = rounded.first_keep,
          .first_gain = rounded.first_gain,
          .second_keep = rounded.second_keep,
          .second_gain = rounded.second_gain,
          .decay = rounded.decay,
          .rate = rounded.corrected_rate,
          .inner = static_cast<float>(inner),
          .outer = static_cast<float>(outer)};
}

struct Arrays {
  const float* g;
  float* p;
  float* m;
  float* v;
};
template <class Input, class Output>
Arrays arrays(const Input& in, Output& out) {
  return {in.g.data(), out.p.data(), out.m.data(), out.v.data()};
}

/// Parameters below which one thread computes all. Chosen, not measured: half of the elements at which the
/// element-wise variants divide, since a parameter costs more than an element.
inline constexpr Index break_even = 32768;

/// One tier's code: a step of the parameters [first, last).
using StepFunction = void(const StepConstants&, const Arrays&, Index first, Index last);

using Tier = assay::Tier<StepFunction>;
std::vector<Tier> tiers();

template <class Formula, class Problem>
auto kernel_of(StepFunction* function, const Problem& p) {
  return [function, k = step_constants<Formula>(p.t), n = p.n](const auto& in, auto& out) {
    function(k, arrays(in, out), 0, n);
  };
}

}  // namespace assay::adamw
