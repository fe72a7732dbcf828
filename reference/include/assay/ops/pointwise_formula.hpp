/// The formulas of which pointwise.hpp makes contracts, the numbers that their first operand holds, and the
/// functions that several of them contain.
#pragma once

#include "assay/operation.hpp"

#include <array>
#include <cmath>

namespace assay::pointwise {

/// The numbers that inputs[0] of a formula holds: any, those before an activation (around 0, some units
/// wide, and parameters likewise), or results of a sigmoid in [0, 1]. The other inputs hold any numbers.
enum class Domain { any, activation, probability };

/// The exact fill asks for the same value, which no formula with an exponential can promise.
template <Domain domain>
constexpr auto fills_of() {
  if constexpr (domain == Domain::any) {
    return std::array{Fill::exact, Fill::uniform};
  } else {
    return std::array{Fill::uniform};
  }
}

/// +0 where x < 0, else x: a NaN and -0 stay.
template <class Real>
Real positive_part(Real x) {
  return x < 0 ? Real{0} : x;
}

/// |x|, or 40 where that is less or x is NaN. All that the formulas multiply by it, exp(-x^2 / 2) and the
/// like, is 0 there in float and in double. So no infinity meets a 0, and NaN enters on one path only.
template <class Real>
Real bounded_magnitude(Real x) {
  const Real magnitude = std::abs(x);
  return magnitude < 40 ? magnitude : Real{40};
}

/// The part of the normal distribution below -a: erfc(a / sqrt(2)) / 2. Unlike (1 - erf(a / sqrt(2))) / 2 it
/// keeps its digits where it is small.
template <class Real>
Real normal_tail(Real a) {
  return Real{0.5} * std::erfc(a * static_cast<Real>(0.70710678118654752440));
}

/// The density of the normal distribution: exp(-a^2 / 2) / sqrt(2 pi).
template <class Real>
Real normal_density(Real a) {
  return static_cast<Real>(0.39894228040143267794) * std::exp(Real{-0.5} * (a * a));
}

/// 1 / (1 + exp(a)) and 1 / (1 + exp(-a)) for a >= 0, from one exponential that cannot overflow.
template <class Real>
struct LogisticPair {
  Real below, above;
};
template <class Real>
LogisticPair<Real> logistic_pair(Real a) {
  const Real e = std::exp(-a), above = 1 / (1 + e);
  return {e * above, above};
}

/// The argument of the logistic function in the tanh form of GELU, and its derivative, at x = a >= 0:
/// (1 + tanh(t)) / 2 is the logistic function of 2 t.
template <class Real>
struct TanhArgument {
  Real value, slope;
};
template <class Real>
TanhArgument<Real> tanh_argument(Real a) {
  constexpr auto linear = static_cast<Real>(1.59576912160573071176);  // 2 sqrt(2 / pi)
  constexpr auto cubic = static_cast<Real>(1.59576912160573071176 * 0.044715);
  const Real square = a * a;
  return {a * (linear + cubic * square), linear + 3 * cubic * square};
}

/// Formulas, unless they say otherwise: dense arrays of any numbers, and one result.
struct Formula {
  static constexpr std::array<std::string_view, 1> outputs{"z"};
  static constexpr bool per_channel = false, scaled = false;
  static constexpr Domain domain = Domain::any;
};
/// The gradient of x.
struct GradientFormula : Formula {
  static constexpr std::array<std::string_view, 2> inputs{"x", "dz"};
  static constexpr std::array<std::string_view, 1> outputs{"dx"};
};

// The formulas of the activations that contain an exponential, GELU in two forms and the sigmoid, and of
// their gradients.
//
// Notation: Phi and phi are distribution and density of the normal distribution, s(v) = 1 / (1 + exp(-v)),
// a = |x|, u = 2^-24. Each bound has a term for the roundings that the result meets, in units of it, and one
// for the error of the argument of the exponential, which conditions the result: exp(v (1 + d)) is
// exp(v) (1 + v d). The number of roundings is that of the reference in single precision with an erfc of 3
// ulp (6 u) and an exp of 1 ulp (2 u), which is what the GNU C library documents ("Known Maximum Errors in
// Math Functions"); a variant may spend them otherwise. Underflow adds `underflow(x)`: an implementation may
// flush an exponential below the normal range to 0, which the formula multiplies by up to a (by a v'(a) in
// the derivative of the tanh form).
//
// The bounds are relative in the left tail too, where 1 + erf and 1 + tanh cancel: at x = -5 the common
// x / 2 (1 + erf(x / sqrt(2))) has one digit left in single precision, and is rejected. So is the tanh form
// where the erf form is asked for (4.7e-4 apart at most), and x s(1.702 x) for either.
//
// A NaN in inputs[0] gives a NaN, of any sign and payload: 1 / (1 + exp(-x)) computes one of its own. At
// -inf GELU and the sigmoid are 0, of either sign; at +inf they are inf and 1. Huge and subnormal numbers
// are numbers like others. dz is finite.

/// z = x Phi(x), the erf form: x (1 + erf(x / sqrt(2))) / 2.
///
/// |fl(z) - z| <= u (8 |z| + 4 a^2 phi(a)) + underflow(x). In z = max(x, 0) - a Phi(-a) the second term meets
/// 8 roundings, and is at most |z|; x^2 phi is how much z changes with a relative change of the argument.
/// Source: Hendrycks and Gimpel, Gaussian Error Linear Units, arXiv:1606.08415 (2016), section 2.
struct Gelu : Formula {
  static constexpr std::string_view name = "elementwise_gelu";
  static constexpr std::string_view about = "z = x (1 + erf(x / sqrt(2))) / 2, f32";
  static constexpr std::array<std::string_view, 1> inputs{"x"};
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
struct GeluTanh : Formula {
  static constexpr std::string_view name = "elementwise_gelu_tanh";
  static constexpr std::string_view about = "z = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, f32";
  static constexpr std::array<std::string_view, 1> inputs{"x"};
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
struct Sigmoid : Formula {
  static constexpr std::string_view name = "elementwise_sigmoid";
  static constexpr std::string_view about = "z = 1 / (1 + exp(-x)), f32";
  static constexpr std::array<std::string_view, 1> inputs{"x"};
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
struct GeluBackward : GradientFormula {
  static constexpr std::string_view name = "elementwise_gelu_backward";
  static constexpr std::string_view about =
      "dx = dz (Phi(x) + x phi(x)), the gradient of GELU, erf form, f32";
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
struct GeluTanhBackward : GradientFormula {
  static constexpr std::string_view name = "elementwise_gelu_tanh_backward";
  static constexpr std::string_view about = "dx = dz d/dx of GELU in the tanh form, f32";
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
struct SigmoidBackward : GradientFormula {
  static constexpr std::string_view name = "elementwise_sigmoid_backward";
  static constexpr std::string_view about =
      "dx = dz y (1 - y), the gradient of the sigmoid from its result, f32";
  static constexpr std::array<std::string_view, 2> inputs{"y", "dz"};
  static constexpr Domain domain = Domain::probability;
  static constexpr double flops = 3;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 2>& in, Real) {
    const auto [y, dz] = in;
    return {dz * (y * (1 - y))};
  }
  static std::array<double, 1> bound(const std::array<double, 2>& in, double alpha, Fill fill);
};

// The formulas of the gradients of elementwise_relu, _multiply and _add, for dense operands of one shape. The
// gradient of an operand that repeats is a sum besides, the contract elementwise_channel_bias_backward.

/// dx = dz where x > 0, else +0: also where x is NaN, for which forward has put NaN into the loss already.
/// A choice, and no product with 0 or 1: an infinite or NaN dz where x > 0 does not hold gives +0.
/// The bound is 0 in both fills: a choice does not round.
/// Source: Nair and Hinton, ICML 2010; at x = 0, where there is no derivative, 0 as in PyTorch.
struct ReluBackward : GradientFormula {
  static constexpr std::string_view name = "elementwise_relu_backward";
  static constexpr std::string_view about = "dx = dz where x > 0, else 0, f32";
  static constexpr double flops = 1;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 2>& in, Real) {
    return {in[0] > 0 ? in[1] : Real{0}};
  }
  static std::array<double, 1> bound(const std::array<double, 2>&, double, Fill) { return {0}; }
};

/// dx = alpha dz y, dy = alpha dz x, for z = alpha x y.
///
/// Each within g(r) of its magnitude, r = 1 product, or 2 unless alpha is 1 or -1. The exact fill: 0.
/// Source: the product rule; PyTorch mul (derivatives.yaml).
struct MultiplyBackward : Formula {
  static constexpr std::string_view name = "elementwise_multiply_backward";
  static constexpr std::string_view about = "dx = alpha dz y, dy = alpha dz x, f32";
  static constexpr std::array<std::string_view, 3> inputs{"x", "y", "dz"};
  static constexpr std::array<std::string_view, 2> outputs{"dx", "dy"};
  static constexpr bool scaled = true;
  static constexpr double flops = 3;
  template <class Real>
  static std::array<Real, 2> apply(const std::array<Real, 3>& in, Real alpha) {
    const auto [x, y, dz] = in;
    const Real scaled_dz = alpha * dz;
    return {scaled_dz * y, scaled_dz * x};
  }
  static std::array<double, 2> bound(const std::array<double, 3>& in, double alpha, Fill fill);
};

/// dx = dz, dy = alpha dz, for z = x + alpha y.
///
/// dx: the same value. dy: within g(1) of its magnitude, which is the correctly rounded product.
/// Source: the sum rule; PyTorch add (derivatives.yaml), which shares dz as dx: here both are written, as by
/// a framework that owns the gradients of its tensors one by one.
struct AddBackward : Formula {
  static constexpr std::string_view name = "elementwise_add_backward";
  static constexpr std::string_view about = "dx = dz, dy = alpha dz, f32";
  static constexpr std::array<std::string_view, 1> inputs{"dz"};
  static constexpr std::array<std::string_view, 2> outputs{"dx", "dy"};
  static constexpr bool scaled = true;
  static constexpr double flops = 1;
  template <class Real>
  static std::array<Real, 2> apply(const std::array<Real, 1>& in, Real alpha) {
    return {in[0], alpha * in[0]};
  }
  static std::array<double, 2> bound(const std::array<double, 1>& in, double alpha, Fill fill);
};

/// One step of stochastic gradient descent with momentum, of parameters p with gradients g and buffers b:
///   d = g + wd p,  b_next = mu b + d,  p_next = p - lr b_next, or p - lr (d + mu b_next) with Nesterov's
/// momentum; lr = 0.1, mu = 0.9, wd = 1e-4. p_next and b_next are arrays of their own, so that a second call
/// finds the same step; torch.optim.SGD updates in place. A first step has b = 0, as PyTorch's without
/// dampening. NaN and infinities go by IEEE 754: an infinite p makes p_next NaN and b_next infinite.
///
/// Bound. g meets a rounding in d; wd p the constant's, a product and a sum; both the sum of b_next; mu b
/// three. lr takes two more, the difference one, and mu b_next three. With B and S the values of b_next and
/// of lr times the direction where all terms are replaced by their magnitudes:
///   |fl(b_next) - b_next| <= g(4) B + h,  |fl(p_next) - p_next| <= g(2) |p| + g(10) S + h,
/// where p may be reduced twice, by lr d and lr mu b_next, and h = 2^-148 is for underflow.
/// Source: Sutskever et al., On the importance of initialization and momentum in deep learning, ICML 2013,
/// as torch.optim.SGD has it; the constants: He et al., CVPR 2016, section 3.4.
template <bool nesterov>
struct SgdStep : Formula {
  static constexpr std::string_view name = nesterov ? "sgd_nesterov" : "sgd";
  static constexpr std::string_view about =
      nesterov ? "d = g + wd p, b_next = mu b + d, p_next = p - lr (d + mu b_next), f32 (PyTorch)"
               : "b_next = mu b + g + wd p, p_next = p - lr b_next, f32 (PyTorch)";
  static constexpr std::array<std::string_view, 3> inputs{"p", "g", "b"};
  static constexpr std::array<std::string_view, 2> outputs{"p_next", "b_next"};
  static constexpr Domain domain = Domain::activation;
  static constexpr double flops = nesterov ? 8 : 6;
  static constexpr double rate = 0.1, momentum = 0.9, decay = 1e-4;
  template <class Real>
  static std::array<Real, 2> apply(const std::array<Real, 3>& in, Real) {
    const auto [p, g, b] = in;
    const auto mu = static_cast<Real>(momentum);
    const Real d = g + static_cast<Real>(decay) * p, kept = mu * b + d;
    return {p - static_cast<Real>(rate) * (nesterov ? d + mu * kept : kept), kept};
  }
  static std::array<double, 2> bound(const std::array<double, 3>& in, double alpha, Fill fill);
};
using Sgd = SgdStep<false>;
using SgdNesterov = SgdStep<true>;

// The formulas of the bias of a channel, and of two chains of element-wise operations that follow each other
// in every network: bias and GELU, scaled sum and relu. The naive variant of a chain runs its operations one
// after the other with a temporary array between them, as a framework does that has a kernel for each
// operation; one pass moves the bytes that the contract's cost counts.

/// A formula that is two operations, one after the other, on its first output.
template <class Formula>
concept Chain = requires {
  typename Formula::First;
  typename Formula::Second;
};

/// z[n, c, h, w] = x[n, c, h, w] + b[c].
///
/// |fl(z) - z| <= g(1) |z|: one sum, correctly rounded. The exact fill: 0.
/// Source: the bias of a convolution, LeCun et al., Proc. IEEE 86(11), 1998, section II.
struct ChannelBias : Formula {
  static constexpr std::string_view name = "elementwise_channel_bias";
  static constexpr std::string_view about = "z = x + b[c], NCHW, f32";
  static constexpr std::array<std::string_view, 2> inputs{"x", "b"};
  static constexpr bool per_channel = true;
  static constexpr double flops = 1;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 2>& in, Real) {
    return {in[0] + in[1]};
  }
  static std::array<double, 1> bound(const std::array<double, 2>& in, double alpha, Fill fill);
};

/// z[n, c, h, w] = gelu(x[n, c, h, w] + b[c]), the erf form.
///
/// With t = x + b, |fl(z) - z| <= u (9 |z| + 5 t^2 phi(t)) + underflow(t): the bound of Gelu at t, and a
/// rounding of t, to which z answers with |t gelu'(t)| <= |z| + t^2 phi(t). Source: the feed-forward layer of
/// Devlin et al., BERT, NAACL 2019; Hendrycks and Gimpel (2016).
struct BiasGelu : Formula {
  static constexpr std::string_view name = "elementwise_bias_gelu";
  static constexpr std::string_view about = "z = gelu(x + b[c]), erf form, NCHW, f32";
  static constexpr std::array<std::string_view, 2> inputs{"x", "b"};
  static constexpr bool per_channel = true;
  static constexpr Domain domain = Domain::activation;
  static constexpr double flops = 6;
  using First = ChannelBias;
  using Second = Gelu;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 2>& in, Real alpha) {
    return Second::apply<Real>(First::apply<Real>(in, alpha), alpha);
  }
  static std::array<double, 1> bound(const std::array<double, 2>& in, double alpha, Fill fill);
};

/// The two operations of ScaleAddRelu. They are no contracts: elementwise_add and elementwise_relu are.
struct ScaledSum : Formula {
  static constexpr std::array<std::string_view, 2> inputs{"x", "y"};
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 2>& in, Real alpha) {
    return {alpha * in[0] + in[1]};
  }
};
struct PositivePart : Formula {
  static constexpr std::array<std::string_view, 1> inputs{"x"};
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 1>& in, Real) {
    return {positive_part(in[0])};
  }
};

/// z = max(alpha x + y, 0); a NaN stays NaN.
///
/// |fl(z) - z| <= g(r) (|alpha x| + |y|), r = 1 sum and 1 product unless alpha is 1 or -1, for max(., 0)
/// brings two numbers no further apart. The exact fill: 0. Source: the residual connection of He et al., CVPR
/// 2016, equation 1 and figure 2.
struct ScaleAddRelu : Formula {
  static constexpr std::string_view name = "elementwise_scale_add_relu";
  static constexpr std::string_view about = "z = max(alpha x + y, 0), f32";
  static constexpr std::array<std::string_view, 2> inputs{"x", "y"};
  static constexpr bool scaled = true;
  static constexpr double flops = 3;
  using First = ScaledSum;
  using Second = PositivePart;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 2>& in, Real alpha) {
    return Second::apply<Real>(First::apply<Real>(in, alpha), alpha);
  }
  static std::array<double, 1> bound(const std::array<double, 2>& in, double alpha, Fill fill);
};

}  // namespace assay::pointwise
