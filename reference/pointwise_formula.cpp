#include "assay/ops/pointwise.hpp"

namespace assay::pointwise {
namespace {

using rounding::g, rounding::u;

/// For numbers below the normal range, and where an exponential, erfc or a result may have fallen below it
/// and become 0. A number that became 0 counts up to `gain` times in the result.
double underflow(double a, double gain = 1) { return a > 9.9 ? (1 + gain) * 0x1p-126 : 0x1p-149; }

/// The largest factor by which GELU and its derivative multiply an exponential. From 15 on the exponential
/// vanishes.
double tail_gain(double a) { return a < 15 ? a : 15; }

/// Products of a scale by one of -1, 1 do not round.
int scaling_rounds(double alpha) { return std::abs(alpha) != 1 ? 1 : 0; }

/// Adds a rounding of a number below the normal range.
double exact_or(Fill fill, double bound) { return fill == Fill::exact ? 0 : bound + 0x1p-149; }

/// Bounds `own` roundings of the result and `argument` roundings of the argument of the exponential.
double gelu_bound(double x, double own, double argument) {
  const double a = bounded_magnitude(x);
  return u * (own * std::abs(Gelu::apply<double>({x}, 1)[0]) + argument * a * a * normal_density(a)) +
         underflow(a, tail_gain(a));
}

}  // namespace

std::array<double, 1> Gelu::bound(const std::array<double, 1>& in, double, Fill) {
  return {gelu_bound(in[0], 8, 4)};
}

std::array<double, 1> GeluTanh::bound(const std::array<double, 1>& in, double, Fill) {
  const double a = bounded_magnitude(in[0]), z = apply<double>(in, 1)[0];
  const double v = tanh_argument(a).value;
  const auto [below, above] = logistic_pair(v);
  return {u * (6 * std::abs(z) + 8 * v * a * below * above) + underflow(a, tail_gain(a))};
}

std::array<double, 1> Sigmoid::bound(const std::array<double, 1>& in, double, Fill) {
  const double a = std::abs(in[0]), z = apply<double>(in, 1)[0];
  const double slope = std::isinf(a) ? 0 : a * z * (1 - z);
  return {u * (6 * z + 2 * slope) + underflow(a)};
}

std::array<double, 1> GeluBackward::bound(const std::array<double, 2>& in, double, Fill) {
  const auto [x, dz] = in;
  const double a = bounded_magnitude(x), tail = normal_tail(a), moment = a * normal_density(a);
  const double below_x = x < 0 ? tail : 1 - tail;
  return {u * std::abs(dz) * (10 * (below_x + moment) + 4 * a * a * (tail + moment)) +
          underflow(a, std::abs(dz) * tail_gain(a))};
}

std::array<double, 1> GeluTanhBackward::bound(const std::array<double, 2>& in, double, Fill) {
  const auto [x, dz] = in;
  const double a = bounded_magnitude(x);
  const auto [v, slope] = tanh_argument(a);
  const auto [below, above] = logistic_pair(v);
  const double moment = a * below * above * slope;
  const double own = 10 * (x < 0 ? below : above) + 18 * moment;
  // A number that was flushed counts 1 + a v' times, at magnitudes up to 11. Beyond that there is nothing to
  // flush.
  const double edge = a < 11 ? a : 11;
  const double gain = 1 + edge * tanh_argument(edge).slope;
  return {u * std::abs(dz) * (own + 8 * v * (below * above + moment)) + underflow(a, std::abs(dz) * gain)};
}

std::array<double, 1> SigmoidBackward::bound(const std::array<double, 2>& in, double, Fill) {
  return {g(3) * std::abs(apply<double>(in, 1)[0]) + 0x1p-149};
}

std::array<double, 2> MultiplyBackward::bound(const std::array<double, 3>& in, double alpha, Fill fill) {
  const auto [dx, dy] = apply<double>(in, alpha);
  const double unit = g(1 + scaling_rounds(alpha));
  return {exact_or(fill, unit * std::abs(dx)), exact_or(fill, unit * std::abs(dy))};
}

std::array<double, 2> AddBackward::bound(const std::array<double, 1>& in, double alpha, Fill fill) {
  return {0, exact_or(fill, g(scaling_rounds(alpha)) * std::abs(alpha * in[0]))};
}

template <bool nesterov>
std::array<double, 2> SgdStep<nesterov>::bound(const std::array<double, 3>& in, double, Fill) {
  const double p = std::abs(in[0]), h = 0x1p-148;
  const auto [reduced, kept] = apply<double>({p, std::abs(in[1]), std::abs(in[2])}, 1);
  return {g(2) * p + g(10) * (p - reduced) + h, g(4) * kept + h};
}
template struct SgdStep<false>;
template struct SgdStep<true>;

std::array<double, 1> ChannelBias::bound(const std::array<double, 2>& in, double, Fill fill) {
  return {exact_or(fill, g(1) * std::abs(in[0] + in[1]))};
}

std::array<double, 1> BiasGelu::bound(const std::array<double, 2>& in, double, Fill) {
  return {gelu_bound(in[0] + in[1], 9, 5)};
}

std::array<double, 1> ScaleAddRelu::bound(const std::array<double, 2>& in, double alpha, Fill fill) {
  const double magnitude = std::abs(alpha * in[0]) + std::abs(in[1]);
  return {exact_or(fill, g(1 + scaling_rounds(alpha)) * magnitude)};
}

}  // namespace assay::pointwise
