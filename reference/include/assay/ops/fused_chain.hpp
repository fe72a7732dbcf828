/// The formulas of the bias of a channel, and of two chains of element-wise operations that follow each other
/// in every network: bias and GELU, scaled sum and relu. pointwise.hpp makes contracts of them. The naive
/// variant of a chain runs its operations one after the other with a temporary array between them, as a
/// framework does that has a kernel for each operation; one pass moves the bytes that the contract's cost
/// counts.
#pragma once

#include "assay/ops/activation.hpp"

namespace assay::pointwise {

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
struct ChannelBias {
  static constexpr std::string_view name = "elementwise_channel_bias";
  static constexpr std::string_view about = "z = x + b[c], NCHW, f32";
  static constexpr std::array<std::string_view, 2> inputs{"x", "b"};
  static constexpr std::array<std::string_view, 1> outputs{"z"};
  static constexpr bool per_channel = true, scaled = false;
  static constexpr Domain domain = Domain::any;
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
struct BiasGelu {
  static constexpr std::string_view name = "elementwise_bias_gelu";
  static constexpr std::string_view about = "z = gelu(x + b[c]), erf form, NCHW, f32";
  static constexpr std::array<std::string_view, 2> inputs{"x", "b"};
  static constexpr std::array<std::string_view, 1> outputs{"z"};
  static constexpr bool per_channel = true, scaled = false;
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
struct ScaledSum {
  static constexpr bool per_channel = false;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 2>& in, Real alpha) {
    return {alpha * in[0] + in[1]};
  }
};
struct PositivePart {
  static constexpr bool per_channel = false;
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
struct ScaleAddRelu {
  static constexpr std::string_view name = "elementwise_scale_add_relu";
  static constexpr std::string_view about = "z = max(alpha x + y, 0), f32";
  static constexpr std::array<std::string_view, 2> inputs{"x", "y"};
  static constexpr std::array<std::string_view, 1> outputs{"z"};
  static constexpr bool per_channel = false, scaled = true;
  static constexpr Domain domain = Domain::any;
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
