/// The AdamW contracts: one step of the optimiser over n parameters, in the three forms that are in use.
#pragma once

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

#include <cmath>
#include <vector>

namespace assay {
namespace adamw {

/// The constants of the contract, the defaults of PyTorch. They are no fields of a problem, since no step is
/// faster or slower for other values.
inline constexpr double learning_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.01;

/// 1 - beta1^t and 1 - beta2^t: how far the moments of step t still fall short of averages.
struct BiasCorrections {
  double first, second;
};
inline BiasCorrections bias_corrections(Index t) {
  const auto steps = static_cast<double>(t);
  return {1 - std::pow(beta1, steps), 1 - std::pow(beta2, steps)};
}

/// Everything about a step but its arrays: made in double and rounded once to Real. In float that matters:
/// 1 - 0.999f is 0.001 with an error of 1.3e-5 of it.
template <class Real>
struct Constants {
  Real first_keep = Real(beta1), first_gain = Real(1 - beta1);
  Real second_keep = Real(beta2), second_gain = Real(1 - beta2);
  Real rate = Real(learning_rate), epsilon = Real(adamw::epsilon);
  Real decay = Real(learning_rate * weight_decay);
  Real first_correction, second_correction;  ///< of BiasCorrections
  Real corrected_rate;                       ///< rate sqrt(second_correction) / first_correction

  explicit Constants(Index t) {
    const auto [first, second] = bias_corrections(t);
    first_correction = Real(first);
    second_correction = Real(second);
    corrected_rate = Real(learning_rate * std::sqrt(second) / first);
  }
};

/// Loshchilov and Hutter, algorithm 2; PyTorch: epsilon is added to the root of the corrected moment.
struct Paper {
  static constexpr std::string_view name = "adamw";
  static constexpr std::string_view about =
      "decay, then p -= lr m_hat / (sqrt(v_hat) + eps), f32, in place (Loshchilov and Hutter, PyTorch)";
  template <class Real>
  static Real update(Real m, Real v, const Constants<Real>& k) {
    const Real m_hat = m / k.first_correction;
    const Real v_hat = v / k.second_correction;
    return k.rate * m_hat / (std::sqrt(v_hat) + k.epsilon);
  }
  /// The operations of the update: two corrections, root, sum, product, division.
  static constexpr double update_flops = 6;
  static constexpr double roundings = 19;
  /// The factor that multiplies m, and the number that divides it.
  static double factor(const BiasCorrections& c) { return learning_rate / c.first; }
  static double divisor(double v, const BiasCorrections& c) { return std::sqrt(v / c.second) + epsilon; }
};

/// Kingma and Ba, end of section 2; TensorFlow: epsilon is added to the root of the uncorrected moment. While
/// t is small, that is an epsilon up to 32 times as large as in the other form.
struct EpsilonHat {
  static constexpr std::string_view name = "adamw_epsilon_hat";
  static constexpr std::string_view about =
      "decay, then p -= lr sqrt(1-b2^t)/(1-b1^t) m / (sqrt(v) + eps), f32, in place (TensorFlow)";
  template <class Real>
  static Real update(Real m, Real v, const Constants<Real>& k) {
    return k.corrected_rate * m / (std::sqrt(v) + k.epsilon);
  }
  static constexpr double update_flops = 4;
  static constexpr double roundings = 17;
  static double factor(const BiasCorrections& c) { return learning_rate * std::sqrt(c.second) / c.first; }
  static double divisor(double v, const BiasCorrections&) { return std::sqrt(v) + epsilon; }
};

/// Epsilon under the root of the corrected moment: what some fused kernels compute and call AdamW. While
/// gradients are small beside sqrt(eps) = 1e-4 its steps are shorter: at t = 1 by 0.707 where g = 1e-4, and
/// by 0.0101 times that of the paper's form where g = 1e-6.
struct EpsilonInside : Paper {
  static constexpr std::string_view name = "adamw_epsilon_inside";
  static constexpr std::string_view about =
      "decay, then p -= lr m_hat / sqrt(v_hat + eps), f32, in place: not what PyTorch or TensorFlow compute";
  template <class Real>
  static Real update(Real m, Real v, const Constants<Real>& k) {
    const Real m_hat = m / k.first_correction;
    const Real v_hat = v / k.second_correction;
    return k.rate * m_hat / std::sqrt(v_hat + k.epsilon);
  }
  static constexpr double roundings = 17;
  static double divisor(double v, const BiasCorrections& c) { return std::sqrt(v / c.second + epsilon); }
};

template <class Visit>
void for_each_formula(const Visit& visit) {
  visit(Paper{});
  visit(EpsilonHat{});
  visit(EpsilonInside{});
}

template <class Real>
struct Parameter {
  Real p, m, v;
};

/// One parameter's step: the specification. In double it is the oracle, in float the naive variant.
template <class Formula, class Real>
Parameter<Real> step(Real g, Parameter<Real> at, const Constants<Real>& k) {
  const Real decayed = at.p - k.decay * at.p;
  const Real m = k.first_keep * at.m + k.first_gain * g;
  const Real v = k.second_keep * at.v + k.second_gain * g * g;
  return {decayed - Formula::update(m, v, k), m, v};
}

/// Step t of `count` parameters from `begin` on, as one call of an optimiser: its constants are computed
/// anew.
template <class Formula, class Input, class Output>
void naive_steps(Index t, Index begin, Index count, const Input& in, Output& out) {
  const Constants<float> k(t);
  for (Index i = begin; i < begin + count; ++i) {
    const auto after = step<Formula, float>(in.g[i], {out.p[i], out.m[i], out.v[i]}, k);
    out.p[i] = after.p;
    out.m[i] = after.m;
    out.v[i] = after.v;
  }
}

/// The bounds of AdamW after a step that leaves `v`. Roundings that the gradient has met before are added
/// wherever it stands: once in m, twice in v, and once each in the numerator and, halved by the root, in the
/// divisor of the update.
template <class Formula>
Parameter<double> bounds(double gradient, const Parameter<double>& before, double v,
                         const Constants<double>& k, int roundings = 0) {
  using rounding::g;
  const double h = roundings == 0 ? 0x1p-148 : 0x1p-147;
  const BiasCorrections corrections{k.first_correction, k.second_correction};
  const double terms = k.first_keep * std::abs(before.m) + k.first_gain * std::abs(gradient);
  const double divisor = Formula::divisor(v, corrections);
  const double update = Formula::factor(corrections) * terms / divisor;
  return {g(3) * std::abs(before.p - k.decay * before.p) + g(Formula::roundings + 2 * roundings) * update +
              16 * h / divisor,
          g(4 + roundings) * terms + h, g(5 + 2 * roundings) * v + h};
}

struct Expected {
  Expectation p, m, v;
};

/// The state that step t leaves of in.p, in.m and in.v at these positions; gradient(i) has met `roundings`.
template <class Formula, class Input, class Gradient>
Expected expected(const Positions& positions, Index t, const Input& in, const Gradient& gradient,
                  int roundings = 0) {
  Expected want{positions, positions, positions};
  const auto put = [](Expectation& array, double value, double bound) {
    array.value.push_back(value);
    array.bound.push_back(std::isfinite(value) ? bound : 0);
  };
  const Constants<double> k(t);
  for (Index next = 0; next < positions.size(); ++next) {
    const Index at = positions[next];
    const double g = gradient(at);
    const Parameter<double> before{in.p[at], in.m[at], in.v[at]};
    const auto after = step<Formula, double>(g, before, k);
    const auto bound = bounds<Formula>(g, before, after.v, k, roundings);
    put(want.p, after.p, bound.p);
    put(want.m, after.m, bound.m);
    put(want.v, after.v, bound.v);
  }
  return want;
}

}  // namespace adamw

/// Step t for every parameter i of p[n], with gradients g[n] and moments m[n], v[n]:
///   p = p - lr wd p                     the decoupled decay, first
///   m = beta1 m + (1 - beta1) g
///   v = beta2 v + (1 - beta2) g^2
///   p = p - update(m, v)                of the formula, above
/// p, m and v are updated in place.
///
/// Defined for finite g with |g| <= 1e17, for m and v that t - 1 steps of such gradients can have left, and
/// for those that any number of calls at the same t leave: v tends to g^2, and v / (1 - beta2) is finite as
/// well. Subnormals are numbers: g, m and v may be subnormal and underflow is gradual, so that flushing to
/// zero is an error. A NaN in g makes m, v and p of its parameter NaN, any NaN, and those of no other; an
/// infinity makes m and v infinite and p NaN, of which an infinite moment may become NaN in later steps, as
/// m + (1 - beta1)(g - m) has it. Finite gradients above 1e17 are undefined.
///
/// Bound, with the constants taken as real numbers, each rounded once from double. A term's roundings are
/// counted along its way (Higham (2002), lemma 3.1); FMA leaves some out. h = 2^-148 covers underflowing
/// products, 2^-150 each.
///   m: constant, product, sum, and one more for m + (1 - beta1)(g - m):
///        g(4) M + h,  M = beta1 |m| + (1 - beta1) |g|
///   v: no term is negative; constant, two products, sum, and one more for the form as above:  g(5) v + h
///   p: g(3) |p - lr wd p| + g(r) F M / D + 16 h / D,  update = F m / D
///      The decay is a constant, a product and a sum. For the update: 4 of m; at most 4 in F m (two
///      constants, two operations); 2 in dividing, if by a reciprocal; the last sum; D. In D the 5 of v are
///      halved by the root, then come the root, in the form of the paper the correction (constant and
///      operation), and the sum: 4.5 or 6.5. One more, for v that underflowed: it moves the root by sqrt(h /
///      0.001) = 2e-21 beside an epsilon of 1e-8. Together r = 19, or 17. With epsilon inside the root the 5
///      of v, the correction (constant and operation) and the sum, 8 in all, are halved, and the root
///      follows: 5, and r = 17 with one for underflow. The update may be computed as lr sqrt(1-b2^t)/(1-b1^t)
///      m / (sqrt(v) + e) with e = eps sqrt(1-b2^t), whose product underflows at 32 times the magnitude
///      relative to D; hence 16 h.
/// Square roots and divisions are correctly rounded; a reciprocal and a product count as a division.
/// Estimates of 1/x or 1/sqrt(x) to 12 or 14 bits are outside the bound unless refined to 23.
///
/// Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization, ICLR 2019, algorithm 2; Kingma and
/// Ba, Adam, ICLR 2015, algorithm 1 and section 2. In the decay lr is the schedule's, as in PyTorch.
template <class Formula>
struct AdamW : FromParts<AdamW<Formula>> {
  static constexpr std::string_view name = Formula::name;
  static constexpr std::string_view about = Formula::about;

  /// Magnitudes up to 1; up to 1e-4; 1e-6 to 1e-12, mixed; among those up to 1 every third is zero,
  /// subnormal, of a subnormal square, huge, infinite or NaN. The forms differ by their epsilon, which `unit`
  /// does not show. `special` is for checks: moments of zero gradients decay to subnormals in a loop that is
  /// timed.
  static constexpr std::array<std::string_view, 4> gradient_words{"unit", "small", "tiny", "special"};

  struct Problem {
    Index n = 1;          ///< parameters
    Index t = 1;          ///< step, counted from 1
    Index gradients = 0;  ///< position in `gradient_words`
    static constexpr Listed fields{field("n", &Problem::n), option("t", &Problem::t, 1, 1, 100000),
                                   of_content(choice("gradients", &Problem::gradients, gradient_words))};
  };
  struct Input {
    Buffer<float> g;
    Buffer<float> p, m, v;  ///< what the arrays of Output hold before the first call
    static constexpr auto parts() {
      return std::tuple{part("g", &Input::g, &Problem::n), start("p", &Input::p, &Output::p, &Problem::n),
                        start("m", &Input::m, &Output::m, &Problem::n),
                        start("v", &Input::v, &Output::v, &Problem::n)};
    }
  };
  struct Output {
    Buffer<float> p, m, v;
    static constexpr Listed parts{part("p", &Output::p, &Problem::n), part("m", &Output::m, &Problem::n),
                                  part("v", &Output::v, &Problem::n)};
  };
  using Expected = adamw::Expected;

  static const Corners corners;
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  /// Operations as the formulas write them: 9 for the decay and the moments, one to subtract, and those of
  /// the update.
  static double flops(const Problem& p) { return static_cast<double>(p.n) * (10 + Formula::update_flops); }
  static Index units(const Problem& p) { return p.n; }
};

using AdamWPaper = AdamW<adamw::Paper>;
using AdamWEpsilonHat = AdamW<adamw::EpsilonHat>;
using AdamWEpsilonInside = AdamW<adamw::EpsilonInside>;

extern template class detail::TypedOperation<AdamWPaper>;
extern template class detail::TypedOperation<AdamWEpsilonHat>;
extern template class detail::TypedOperation<AdamWEpsilonInside>;

/// Step t of `adamw`, the form of the paper, for every parameter of every tensor. The tensors lie one after
/// the other in p, m, v and g, with gaps between them: tensor k is [begin, begin + count) of
/// spans(problem)[k]. Gaps keep their bits: tensors are allocations of their own, and what lies between
/// belongs to others. The starts are no multiples of anything.
///
/// `sizes`: with `equal`, every tensor has n parameters. With `network`, every third has n and the two after
/// it max(1, n / 256), as a weight is followed by the two vectors of its normalization: of the 161 tensors of
/// ResNet-50, 106 are such vectors or a bias (He et al. 2016, table 1, with batch normalization).
///
/// Bound: that of `adamw`, parameter by parameter; zero in the gaps.
///
/// Source: as for `adamw`; the many small tensors: PyTorch, torch.optim.AdamW, argument foreach.
struct AdamWMultiTensor : AdamWPaper {
  static constexpr std::string_view name = "adamw_multi_tensor";
  static constexpr std::string_view about =
      "the step of adamw over many tensors that lie apart, f32, in place";

  static constexpr std::array<std::string_view, 2> size_words{"equal", "network"};

  struct Problem {
    Index tensors = 1;
    Index n = 1;      ///< parameters of the largest
    Index sizes = 0;  ///< position in `size_words`
    Index t = 1;      ///< step, counted from 1
    static constexpr Listed fields{field("tensors", &Problem::tensors), field("n", &Problem::n),
                                   choice("sizes", &Problem::sizes, size_words),
                                   option("t", &Problem::t, 1, 1, 100000)};
    /// The flat arrays as one problem, gaps included, which is where a unit may be, too.
    operator AdamWPaper::Problem() const;
  };
  struct Span {
    Index begin = 0, count = 0;
  };
  static std::vector<Span> spans(const Problem& problem);
  static Index parameters(const Problem& problem) {
    Index sum = 0;
    for (const Span& span : spans(problem)) sum += span.count;
    return sum;
  }

  static std::vector<Problem> corner_cases();
  static Expected expect(const Problem&, const Input&, Setting&);
  static Cost cost(const Problem& p) { return AdamWPaper::cost({.n = parameters(p), .t = p.t}); }
};

extern template class detail::TypedOperation<AdamWMultiTensor>;

}  // namespace assay
