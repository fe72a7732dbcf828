/// Numbers that carry an estimate of their rounding errors: the scalar that turns the text of a long
/// computation into the error bound of every variant of it.
#pragma once

#include <cmath>
#include <limits>

namespace assay {

/// A number in double precision, and the root mean square of the error with which single precision computes
/// it from the same f32 inputs, in whatever order.
///
/// Each operation carries the deviations of its operands through by its slopes and adds a rounding of its own
/// result, as running error analysis does (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.
/// (2002), section 3.3), but adds squares, as of errors that are independent and of mean zero: sums of n
/// terms get sqrt(n) u where the worst case has n u (Higham and Mary, A New Approach to Probabilistic
/// Rounding Error Analysis, SIAM J. Sci. Comput. 41(5), 2019). The worst case of a network is out of reach:
/// carried through layer by layer it exceeds the gradients themselves from a few thousand activations on.
///
/// Two things are assumed, and neither is proved: that independence, which errors of a number that is used
/// twice do not have, and that slopes at `value` are those in its surroundings. bound() makes up for both by
/// a margin; a contract that judges by it measures how much of the margin right results use. A rounding
/// counts as u of its result, its maximum, where its root mean square is about half of that.
struct Rounded {
  double value = 0, deviation = 0;

  /// Deviations that a right result may be away. Decisions between two branches count as open that close,
  /// too.
  static constexpr double margin = 8;

  Rounded() = default;
  constexpr Rounded(double v, double d) : value(v), deviation(d) {}
  /// A constant: exact where it is an f32 number, else rounded to one.
  constexpr explicit Rounded(double constant)
      : value(constant),
        deviation(static_cast<double>(static_cast<float>(constant)) == constant
                      ? 0
                      : 0x1p-24 * (constant < 0 ? -constant : constant)) {}

  double bound() const { return margin * deviation; }
  /// Zero that no rounding touches, as a pixel of the padding.
  constexpr bool is_exact_zero() const { return value == 0 && deviation == 0; }
};

namespace detail {

/// Adds `roundings` of the result, and the most that underflow takes away in them.
inline Rounded rounded(double value, double deviation, double roundings = 1) {
  const double own = 0x1p-24 * value;
  return {value, std::sqrt(deviation * deviation + roundings * own * own) + 0x1p-149};
}

}  // namespace detail

inline Rounded operator-(Rounded x) { return {-x.value, x.deviation}; }
inline Rounded operator+(Rounded x, Rounded y) {
  if (x.is_exact_zero()) return y;
  if (y.is_exact_zero()) return x;
  return detail::rounded(x.value + y.value, std::hypot(x.deviation, y.deviation));
}
inline Rounded operator-(Rounded x, Rounded y) { return x + -y; }
inline Rounded operator*(Rounded x, Rounded y) {
  if (x.is_exact_zero() || y.is_exact_zero()) return {};
  const double by_x = x.deviation * y.value, by_y = x.value * y.deviation;
  return detail::rounded(x.value * y.value, std::sqrt(by_x * by_x + by_y * by_y));
}
/// Two roundings, since it may be a product with a reciprocal. Unbounded where y may be zero.
inline Rounded operator/(Rounded x, Rounded y) {
  const double quotient = x.value / y.value;
  if (!(std::abs(y.value) > y.bound())) return {quotient, std::numeric_limits<double>::infinity()};
  return detail::rounded(quotient, std::hypot(x.deviation, quotient * y.deviation) / std::abs(y.value), 2);
}
/// Unbounded where x may be zero.
inline Rounded sqrt(Rounded x) {
  const double root = std::sqrt(x.value);
  if (!(x.value > x.bound())) return {root, std::numeric_limits<double>::infinity()};
  return detail::rounded(root, x.deviation / (2 * root));
}
/// The exponential by a function of 2 ulp, 4 roundings, or by a power of two whose exponent x is rounded.
/// Results below the normal range may be flushed.
inline Rounded exp(Rounded x) {
  const double e = std::exp(x.value);
  Rounded out = detail::rounded(e, e * x.deviation, 16 + x.value * x.value);
  out.deviation += 0x1p-126;
  return out;
}
/// The logarithm of a number that is well above 0, by a function of 2 ulp.
inline Rounded log(Rounded x) { return detail::rounded(std::log(x.value), x.deviation / x.value, 16); }

/// `x` without its error: any number in its place gives the same result, as does any shift of a softmax.
inline float any(float x) { return x; }
inline double any(double x) { return x; }
inline Rounded any(Rounded x) { return {x.value, 0}; }
inline double value_of(double x) { return x; }
inline double value_of(Rounded x) { return x.value; }

/// A sum of terms. In Rounded it is the same for every order of summation: each of the roundings is one of a
/// partial sum, which is at most the sum of magnitudes. `others` counts further roundings that a term may
/// meet in a variant that distributes a later factor over the terms.
template <class Real>
class Sum {
 public:
  explicit Sum(double = 0) {}
  void add(Real term) { total_ += term; }
  Real result() const { return total_; }

 private:
  Real total_ = 0;
};

template <>
class Sum<Rounded> {
 public:
  explicit Sum(double others = 0) : roundings_(others) {}
  void add(Rounded term) {
    total_ += term.value;
    squares_ += term.deviation * term.deviation;
    magnitudes_ += std::abs(term.value);
    roundings_ += 1;
  }
  Rounded result() const {
    const double own = 0x1p-24 * magnitudes_;
    return {total_, std::sqrt(squares_ + roundings_ * own * own)};
  }

 private:
  double total_ = 0, squares_ = 0, magnitudes_ = 0, roundings_;
};

}  // namespace assay
