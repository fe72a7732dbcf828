// What the AdamW variants share: one formula for both forms, and the SIMD tiers by which `simd` and
// `threaded` run the same machine code.
#pragma once

#include "assay/ops/adamw.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace assay::adamw {

/// Both forms are p = (p - decay p) - rate m / (sqrt(v) + epsilon). In the form of the paper, m_hat and v_hat
/// are m and v times constants, which are drawn out of the root and the quotient:
///   lr (m / c1) / (sqrt(v / c2) + eps) = (lr sqrt(c2) / c1) m / (sqrt(v) + eps sqrt(c2)).
/// That saves two of three divisions per parameter.
struct StepConstants {
  float first_keep, first_gain, second_keep, second_gain, decay, rate, epsilon;
};

template <class Formula>
StepConstants step_constants(Index t) {
  const Constants<double> k(t);
  constexpr bool paper = std::is_same_v<Formula, Paper>;
  const double added = paper ? k.epsilon * std::sqrt(k.second_correction) : k.epsilon;
  const Constants<float> rounded(t);
  return {.first_keep = rounded.first_keep,
          .first_gain = rounded.first_gain,
          .second_keep = rounded.second_keep,
          .second_gain = rounded.second_gain,
          .decay = rounded.decay,
          .rate = rounded.corrected_rate,
          .epsilon = static_cast<float>(added)};
}

/// Where a call finds its parameters.
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

/// One tier's code: a step of the parameters [first, last).
using StepFunction = void(const StepConstants&, const Arrays&, Index first, Index last);

struct Tier {
  std::string name;
  StepFunction* function = nullptr;
  std::optional<std::string> unfit;  ///< why it cannot run here
};
/// Every SIMD tier that was built, best first. Defined in simd.cpp.
std::vector<Tier> tiers();

/// Calls visit(formula) with a value of each formula: how a variant registers for both operations.
template <class Visit>
void for_each_formula(const Visit& visit) {
  visit(Paper{});
  visit(EpsilonHat{});
}

}  // namespace assay::adamw
