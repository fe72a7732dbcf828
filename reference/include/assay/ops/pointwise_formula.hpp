/// The parts that the formulas of pointwise.hpp are made of: the numbers that their first operand holds, and
/// the functions that several of them contain.
#pragma once

#include "assay/operation.hpp"

#include <array>
#include <cmath>

namespace assay::pointwise {

/// The numbers that inputs[0] of a formula holds: any, those before an activation (around 0, some units
/// wide), or results of a sigmoid in [0, 1]. The other inputs hold any numbers.
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

}  // namespace assay::pointwise
