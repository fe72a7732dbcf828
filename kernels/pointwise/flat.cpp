// The idea: one loop over arrays for all outputs, and exponentials as a few products and sums without a
// branch or a call, so that the compiler vectorises the loop for the plain ABI. Operations of a chain still
// follow each other.

#include "pointwise/arrays.hpp"
#include "pointwise/coefficients.hpp"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace assay::pointwise {
namespace {

template <std::size_t count>
float polynomial(float x, float first, const float (&terms)[count]) {
  float sum = terms[count - 1];
  for (std::size_t i = count - 1; i-- > 0;) sum = sum * x + terms[i];
  return sum * x + first;
}

/// 2^w for w <= 0; 0 for w <= -127. Below the normal range, w <= -126, only the magnitude is right.
float power_of_two(float w) {
  w = w > -127 ? w : -127;
  // Adding 1.5 2^23 leaves the nearest whole number in the lowest bits; a shift moves it to the exponent.
  constexpr float shift = 0x1.8p23F;
  const float shifted = w + shift;
  const float power = polynomial(w - (shifted - shift), 1, power_terms);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(power) +
                              (std::bit_cast<std::uint32_t>(shifted) << 23));
}

/// Computes both values before one is chosen, which leaves no branch.
float choose(bool first, float a, float b) { return first ? a : b; }

/// |x|, at most `limit`, and `limit` for NaN.
float bounded(float x, float limit) {
  const float a = std::abs(x);
  return a < limit ? a : limit;
}

struct Tail {
  float exponential, mills;  ///< exp(-a^2 / 2), and exp(a^2 / 2) Phi(-a)
};
Tail tail(float a) {
  const float t = 1 / (1 + tail_scale * a);
  return {power_of_two(a * a * (-0.5F * log2_e)), polynomial(t, 0, tail_terms)};
}

/// The logistic function of -v and of v from w, the logarithm of exp(-v) to base 2.
LogisticPair<float> logistic(float w) {
  const float e = power_of_two(w), above = 1 / (1 + e);
  return {e * above, above};
}

float tanh_exponent(float a) { return a * (-log2_e * tanh_linear - log2_e * tanh_cubic * (a * a)); }

/// The formula, with polynomials in place of functions of the C library.
template <class Formula, std::size_t count>
auto fast(const std::array<float, count>& in, float alpha) {
  using One = std::array<float, 1>;
  const float x = in[0];
  if constexpr (std::is_same_v<Formula, Gelu>) {
    const float a = bounded(x, largest_normal);
    const auto [exponential, mills] = tail(a);
    return One{choose(x < 0, 0, x) - a * exponential * mills};
  } else if constexpr (std::is_same_v<Formula, GeluTanh>) {
    const float a = bounded(x, largest_tanh);
    return One{choose(x < 0, 0, x) - a * logistic(tanh_exponent(a)).below};
  } else if constexpr (std::is_same_v<Formula, Sigmoid>) {
    const auto [below, above] = logistic(std::abs(x) * -log2_e);
    return One{choose(x != x, x, choose(x < 0, below, above))};
  } else if constexpr (std::is_same_v<Formula, GeluBackward>) {
    const float a = bounded(x, largest_normal);
    const auto [exponential, mills] = tail(a);
    const float left = exponential * (mills - density_at_zero * a);
    return One{choose(x != x, x, in[1] * choose(x < 0, left, 1 - left))};
  } else if constexpr (std::is_same_v<Formula, GeluTanhBackward>) {
    const float a = bounded(x, largest_tanh);
    const auto [below, above] = logistic(tanh_exponent(a));
    const float left = below * (1 - a * above * (tanh_linear + 3 * tanh_cubic * (a * a)));
    return One{choose(x != x, x, in[1] * choose(x < 0, left, 1 - left))};
  } else {
    return Formula::template apply<float>(in, alpha);
  }
}

template <class Formula, std::size_t inputs, std::size_t outputs>
void row(const std::array<const float*, inputs>& in, float repeated, float alpha,
         const std::array<float*, outputs>& out, Index count) {
  // Local copies: the compiler knows that no store changes them.
  const float* const x = in[0];
  const float* const y = inputs > 1 ? in[1 % inputs] : x;
  const float* const z = inputs > 2 ? in[2 % inputs] : x;
  float* __restrict const first = out[0];
  float* __restrict const second = out[outputs - 1];
  for (Index i = 0; i < count; ++i) {
    std::array<float, inputs> arguments{x[i]};
    if constexpr (inputs > 1) arguments[1] = Formula::per_channel ? repeated : y[i];
    if constexpr (inputs > 2) arguments[2] = z[i];
    const auto result = fast<Formula>(arguments, alpha);
    first[i] = result[0];
    if constexpr (outputs > 1) second[i] = result[1];
  }
}

template <class Formula, std::size_t inputs, std::size_t outputs>
void pass(const Operands& on, Index size, std::array<const float*, inputs> in,
          std::array<float*, outputs> out) {
  const Index plane = Formula::per_channel ? on.plane : size;
  for (Index begin = 0, at = 0; begin < size; begin += plane, ++at) {
    const float repeated = Formula::per_channel ? in[1 % inputs][at % on.channels] : 0;
    auto from = in;
    auto to = out;
    from[0] += begin;  // per channel, the second operand is `repeated`
    if constexpr (!Formula::per_channel) {
      for (std::size_t k = 1; k < inputs; ++k) from[k] += begin;
    }
    for (auto& pointer : to) pointer += begin;
    row<Formula>(from, repeated, on.alpha, to, plane);
  }
}

template <class Formula>
auto prepare(const typename Pointwise<Formula>::Problem& p, const typename Pointwise<Formula>::Input&,
             const Context&) -> typename Variant<Pointwise<Formula>>::Kernel {
  using Op = Pointwise<Formula>;
  if constexpr (Chain<Formula>) {
    return [p, between = Buffer<float>(p.size())](const auto& in, auto& out) mutable {
      const Operands on = operands<Formula>(p, in, out);
      pass<typename Formula::First>(on, p.size(), std::array{on.in[0], on.in[1]}, std::array{between.data()});
      pass<typename Formula::Second>(on, p.size(), std::array<const float*, 1>{between.data()},
                                     std::array{on.out[0]});
    };
  } else {
    return [p](const auto& in, auto& out) {
      const Operands on = operands<Formula>(p, in, out);
      std::array<const float*, Op::inputs> from;
      std::array<float*, Op::outputs> to;
      for (std::size_t k = 0; k < from.size(); ++k) from[k] = on.in[k];
      for (std::size_t j = 0; j < to.size(); ++j) to[j] = on.out[j];
      pass<Formula>(on, p.size(), from, to);
    };
  }
}

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    r.add<Pointwise<Formula>>({.name = "flat",
                               .summary = "one loop without calls or branches, compiler-vectorised",
                               .prepare = prepare<Formula>});
  });
}};

}  // namespace
}  // namespace assay::pointwise
