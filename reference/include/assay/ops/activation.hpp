/// The formulas of the activations that contain an exponential, GELU in two forms and the sigmoid, and of
/// their gradients. pointwise.hpp makes contracts of them.
///
/// Notation: Phi and phi are distribution and density of the normal distribution, s(v) = 1 / (1 + exp(-v)),
/// a = |x|, u = 2^-24. Each bound has a term for the roundings that the result meets, in units of it, and one
/// for the error of the argument of the exponential, which conditions the result: exp(v (1 + d)) is
/// exp(v) (1 + v d). The number of roundings is that of the reference in single precision with an erfc of 3
/// ulp (6 u) and an exp of 1 ulp (2 u), which is what the GNU C library documents ("Known Maximum Errors in
/// Math Functions"); a variant may spend them otherwise. Underflow adds `underflow(x)`: an implementation may
/// flush an exponential below the normal range to 0, which the formula multiplies by up to a (by a v'(a) in
/// the derivative of the tanh form).
///
/// The bounds are relative in the left tail too, where 1 + erf and 1 + tanh cancel: at x = -5 the common
/// x / 2 (1 + erf(x / sqrt(2))) has one digit left in single precision, and is rejected. So is the tanh form
/// where the erf form is asked for (4.7e-4 apart at most), and x s(1.702 x) for either.
///
/// A NaN in inputs[0] gives a NaN, of any sign and payload: 1 / (1 + exp(-x)) computes one of its own. At
/// -inf GELU and the sigmoid are 0, of either sign; at +inf they are inf and 1. Huge and subnormal numbers
/// are numbers like others. dz is finite.
#pragma once

#include "assay/ops/pointwise_formula.hpp"

namespace assay::pointwise {

/// z = x Phi(x), the erf form: x (1 + erf(x / sqrt(2))) / 2.
///
/// |fl(z) - z| <= u (8 |z| + 4 a^2 phi(a)) + underflow(x). In z = max(x, 0) - a Phi(-a) the second term meets
/// 8 roundings, and is at most |z|; x^2 phi is how much z changes with a relative change of the argument.
/// Source: Hendrycks and Gimpel, Gaussian Error Linear Units, arXiv:1606.08415 (2016), section 2.
struct Gelu {
  static constexpr std::string_view name = "elementwise_gelu";
  static constexpr std::string_view about = "z = x (1 + erf(x / sqrt(2))) / 2, f32";
  static constexpr std::array<std::string_view, 1> inputs{"x"}, outputs{"z"};
  static constexpr bool per_channel = false, scaled = false;
  static constexpr Domain domain = Domain::activation;
  static constexpr double flops = 5;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 1>& in, Real) {
    const Real a = bounded_magnitude(in[0]);
    return {positive_part(in[0]) - a * normal_tail(a)};
  }
  static std::array<double, 1> bound(const std::array<double, 1>& in, double alpha, Fill fill);
};

/// z = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 = x s(v), v = 2 sqrt(2 / pi) (x + 0.044715 x^3).
///
/// |fl(z) - z| <= u (6 |z| + 8 |v z| (1 - s(v))) + underflow(x): v meets up to 5 roundings, and one to three
/// more on its way to a power of two.
/// Source: Hendrycks and Gimpel (2016), section 2, the approximation with tanh.
struct GeluTanh {
  static constexpr std::string_view name = "elementwise_gelu_tanh";
  static constexpr std::string_view about = "z = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, f32";
  static constexpr std::array<std::string_view, 1> inputs{"x"}, outputs{"z"};
  static constexpr bool per_channel = false, scaled = false;
  static constexpr Domain domain = Domain::activation;
  static constexpr double flops = 8;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 1>& in, Real) {
    const Real a = bounded_magnitude(in[0]);
    return {positive_part(in[0]) - a * logistic_pair(tanh_argument(a).value).below};
  }
  static std::array<double, 1> bound(const std::array<double, 1>& in, double alpha, Fill fill);
};

/// z = s(x) = 1 / (1 + exp(-x)).
///
/// |fl(z) - z| <= u (6 z + 2 |x| z (1 - z)) + underflow(x).
/// Source: the logistic function, Verhulst 1845; its use in networks: Rumelhart, Hinton and Williams, Nature
/// 323, 1986, equation 2.
struct Sigmoid {
  static constexpr std::string_view name = "elementwise_sigmoid";
  static constexpr std::string_view about = "z = 1 / (1 + exp(-x)), f32";
  static constexpr std::array<std::string_view, 1> inputs{"x"}, outputs{"z"};
  static constexpr bool per_channel = false, scaled = false;
  static constexpr Domain domain = Domain::activation;
  static constexpr double flops = 3;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 1>& in, Real) {
    const Real x = in[0];
    const auto [below, above] = logistic_pair(std::abs(x));
    return {x != x ? x : x < 0 ? below : above};
  }
  static std::array<double, 1> bound(const std::array<double, 1>& in, double alpha, Fill fill);
};

/// dx = dz (Phi(x) + x phi(x)).
///
/// |fl(dx) - dx| <= u |dz| (10 (Phi(x) + a phi(a)) + 4 a^2 (Phi(-a) + a phi(a))) + underflow(x): the terms
/// have opposite signs for x < 0 and cancel at x = -0.7518, so that the bound is in units of the terms.
/// Source: the derivative of Gelu; Hendrycks and Gimpel (2016).
struct GeluBackward {
  static constexpr std::string_view name = "elementwise_gelu_backward";
  static constexpr std::string_view about =
      "dx = dz (Phi(x) + x phi(x)), the gradient of GELU, erf form, f32";
  static constexpr std::array<std::string_view, 2> inputs{"x", "dz"};
  static constexpr std::array<std::string_view, 1> outputs{"dx"};
  static constexpr bool per_channel = false, scaled = false;
  static constexpr Domain domain = Domain::activation;
  static constexpr double flops = 9;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 2>& in, Real) {
    const auto [x, dz] = in;
    const Real a = bounded_magnitude(x);
    // The slope at -a; at a it is what is missing to 1.
    const Real left = normal_tail(a) - a * normal_density(a);
    return {x != x ? x : dz * (x < 0 ? left : 1 - left)};
  }
  static std::array<double, 1> bound(const std::array<double, 2>& in, double alpha, Fill fill);
};

/// dx = dz (s(v) + x s(v) (1 - s(v)) v'(x)) with v as in GeluTanh, v'(x) = 2 sqrt(2 / pi) (1 + 0.134145 x^2).
///
/// With w = a s(v) s(-v) v':  |fl(dx) - dx| <= u |dz| (10 s(v) + 18 w + 8 |v| (s(v) s(-v) + w)) +
/// underflow(x). Source: the derivative of GeluTanh; Hendrycks and Gimpel (2016).
struct GeluTanhBackward {
  static constexpr std::string_view name = "elementwise_gelu_tanh_backward";
  static constexpr std::string_view about = "dx = dz d/dx of GELU in the tanh form, f32";
  static constexpr std::array<std::string_view, 2> inputs{"x", "dz"};
  static constexpr std::array<std::string_view, 1> outputs{"dx"};
  static constexpr bool per_channel = false, scaled = false;
  static constexpr Domain domain = Domain::activation;
  static constexpr double flops = 15;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 2>& in, Real) {
    const auto [x, dz] = in;
    const Real a = bounded_magnitude(x);
    const auto [v, slope] = tanh_argument(a);
    const auto [below, above] = logistic_pair(v);
    const Real left = below * (1 - a * above * slope);
    return {x != x ? x : dz * (x < 0 ? left : 1 - left)};
  }
  static std::array<double, 1> bound(const std::array<double, 2>& in, double alpha, Fill fill);
};

/// dx = dz y (1 - y) from y = s(x), the result of the forward pass.
///
/// |fl(dx) - dx| <= g(3) |dz y (1 - y)| + 2^-149: a difference and two products. y - y^2 with one rounding,
/// by FMA, is as good; with y^2 rounded it cancels near y = 1 and is rejected. Source: Rumelhart, Hinton and
/// Williams, Nature 323, 1986, equation 5.
struct SigmoidBackward {
  static constexpr std::string_view name = "elementwise_sigmoid_backward";
  static constexpr std::string_view about =
      "dx = dz y (1 - y), the gradient of the sigmoid from its result, f32";
  static constexpr std::array<std::string_view, 2> inputs{"y", "dz"};
  static constexpr std::array<std::string_view, 1> outputs{"dx"};
  static constexpr bool per_channel = false, scaled = false;
  static constexpr Domain domain = Domain::probability;
  static constexpr double flops = 3;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 2>& in, Real) {
    const auto [y, dz] = in;
    return {dz * (y * (1 - y))};
  }
  static std::array<double, 1> bound(const std::array<double, 2>& in, double alpha, Fill fill);
};

}  // namespace assay::pointwise
