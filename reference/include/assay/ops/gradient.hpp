/// The formulas of the gradients of elementwise_relu, _multiply and _add, for dense operands of one shape.
/// pointwise.hpp makes contracts of them. The gradient of an operand that repeats is a sum besides:
/// channel_sum.hpp.
#pragma once

#include "assay/ops/pointwise_formula.hpp"

namespace assay::pointwise {

/// dx = dz where x > 0, else +0: also where x is NaN, for which forward has put NaN into the loss already.
/// A choice, and no product with 0 or 1: an infinite or NaN dz where x > 0 does not hold gives +0.
/// The bound is 0 in both fills: a choice does not round.
/// Source: Nair and Hinton, ICML 2010; at x = 0, where there is no derivative, 0 as in PyTorch.
struct ReluBackward {
  static constexpr std::string_view name = "elementwise_relu_backward";
  static constexpr std::string_view about = "dx = dz where x > 0, else 0, f32";
  static constexpr std::array<std::string_view, 2> inputs{"x", "dz"};
  static constexpr std::array<std::string_view, 1> outputs{"dx"};
  static constexpr bool per_channel = false, scaled = false;
  static constexpr Domain domain = Domain::any;
  static constexpr double flops = 1;
  template <class Real>
  static std::array<Real, 1> apply(const std::array<Real, 2>& in, Real) {
    return {in[0] > 0 ? in[1] : Real{0}};
  }
  static std::array<double, 1> bound(const std::array<double, 2>& in, double alpha, Fill fill);
};

/// dx = alpha dz y, dy = alpha dz x, for z = alpha x y.
///
/// Each within g(r) of its magnitude, r = 1 product, or 2 unless alpha is 1 or -1. The exact fill: 0.
/// Source: the product rule; PyTorch mul (derivatives.yaml).
struct MultiplyBackward {
  static constexpr std::string_view name = "elementwise_multiply_backward";
  static constexpr std::string_view about = "dx = alpha dz y, dy = alpha dz x, f32";
  static constexpr std::array<std::string_view, 3> inputs{"x", "y", "dz"};
  static constexpr std::array<std::string_view, 2> outputs{"dx", "dy"};
  static constexpr bool per_channel = false, scaled = true;
  static constexpr Domain domain = Domain::any;
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
struct AddBackward {
  static constexpr std::string_view name = "elementwise_add_backward";
  static constexpr std::string_view about = "dx = dz, dy = alpha dz, f32";
  static constexpr std::array<std::string_view, 1> inputs{"dz"};
  static constexpr std::array<std::string_view, 2> outputs{"dx", "dy"};
  static constexpr bool per_channel = false, scaled = true;
  static constexpr Domain domain = Domain::any;
  static constexpr double flops = 1;
  template <class Real>
  static std::array<Real, 2> apply(const std::array<Real, 1>& in, Real alpha) {
    return {in[0], alpha * in[0]};
  }
  static std::array<double, 2> bound(const std::array<double, 1>& in, double alpha, Fill fill);
};

}  // namespace assay::pointwise
