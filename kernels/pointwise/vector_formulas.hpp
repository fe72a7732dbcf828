// Each formula on vectors. Included once per SIMD target, by pointwise/simd.cpp alone.
//
// GELU and its gradient are symmetric, gelu(x) = max(x, 0) - a Phi(-a) and gelu'(x) = 1 - gelu'(-x) with a =
// |x|, so that one polynomial for the tail serves both signs, both and the tanh form alike, and nothing
// cancels. Each exponential is of a number that was bounded first, so that there is no infinity to meet a
// zero; a NaN comes in by x itself.

#if defined(ASSAY_POINTWISE_VECTOR_FORMULAS) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_POINTWISE_VECTOR_FORMULAS
#undef ASSAY_POINTWISE_VECTOR_FORMULAS
#else
#define ASSAY_POINTWISE_VECTOR_FORMULAS
#endif

#include "assay/ops/pointwise.hpp"
#include "pointwise/coefficients.hpp"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::pointwise {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// first + x (terms[0] + x (terms[1] + …)).
template <class D, class V, std::size_t count>
HWY_INLINE V polynomial(D d, V x, float first, const float (&terms)[count]) {
  V sum = hn::Set(d, terms[count - 1]);
  for (std::size_t i = count - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, terms[i]));
  return hn::MulAdd(sum, x, hn::Set(d, first));
}

#if HWY_TARGET == HWY_AVX3
HWY_INLINE __m512 scaled(__m512 p, __m512 n) { return _mm512_scalef_ps(p, n); }
HWY_INLINE __m256 scaled(__m256 p, __m256 n) { return _mm256_scalef_ps(p, n); }
HWY_INLINE __m128 scaled(__m128 p, __m128 n) { return _mm_scalef_ps(p, n); }
#endif

/// p 2^n for whole numbers n in [-170, 0].
template <class D, class V>
HWY_INLINE V times_power(D d, V p, V n) {
#if HWY_TARGET == HWY_AVX3
  (void)d;
  return V{scaled(p.raw, n.raw)};
#else
  // In two steps, since 2^n may lie below the normal range where p 2^n still counts.
  const hn::RebindToSigned<D> di;
  const auto whole = hn::ConvertTo(di, n);
  const auto half = hn::ShiftRight<1>(whole);
  const auto bias = hn::Set(di, 127);
  const auto power = [&](auto exponent)
                         HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(exponent, bias))); };
  return hn::Mul(hn::Mul(p, power(half)), power(hn::Sub(whole, half)));
#endif
}

/// 2^w for w in [-170, 0].
template <class D, class V>
HWY_INLINE V power_of_two(D d, V w) {
  const V n = hn::Round(w);
  return times_power(d, polynomial(d, hn::Sub(w, n), 1.0F, power_terms), n);
}

/// 1 / x for x in [1, 16].
template <class D, class V>
HWY_INLINE V reciprocal(D d, V x) {
  const V one = hn::Set(d, 1.0F);
#if HWY_TARGET == HWY_AVX3
  // 14 bits, doubled by a step of Newton's.
  const V r = hn::ApproximateReciprocal(x);
  return hn::MulAdd(r, hn::NegMulAdd(x, r, one), r);
#else
  return hn::Div(one, x);
#endif
}

/// |x|, at most `limit`, and `limit` for NaN: where a comparison with NaN fails, x86 takes the second
/// operand.
template <class D, class V>
HWY_INLINE V bounded(D d, V x, float limit) {
  return hn::Min(hn::Abs(x), hn::Set(d, limit));
}

template <class V>
struct NormalTail {
  V exponential, mills;  ///< exp(-a^2 / 2), and exp(a^2 / 2) Phi(-a)
};
template <class D, class V>
HWY_INLINE NormalTail<V> normal_tail_of(D d, V a) {
  const V t = reciprocal(d, hn::MulAdd(a, hn::Set(d, tail_scale), hn::Set(d, 1.0F)));
  const V w = hn::Mul(hn::Mul(a, a), hn::Set(d, -0.5F * log2_e));
  return {power_of_two(d, w), polynomial(d, t, 0.0F, tail_terms)};
}

template <class V>
struct Logistic {
  V below, above;  ///< 1 / (1 + 2^-w) and 1 / (1 + 2^w)
};
template <class D, class V>
HWY_INLINE Logistic<V> logistic_of(D d, V w) {
  const V e = power_of_two(d, w);
  const V above = reciprocal(d, hn::Add(e, hn::Set(d, 1.0F)));
  return {hn::Mul(e, above), above};
}

/// The logarithm to base 2 of exp(-v), v the argument of the logistic function in the tanh form.
template <class D, class V>
HWY_INLINE V tanh_exponent(D d, V square, V a) {
  return hn::Mul(a, hn::MulAdd(square, hn::Set(d, -log2_e * tanh_cubic), hn::Set(d, -log2_e * tanh_linear)));
}

template <class D, class V>
HWY_INLINE V positive_part_of(D d, V x) {
  return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
}

/// A slope of which `left` is the value at -|x|, times dz; NaN where x is.
template <class D, class V>
HWY_INLINE V symmetric_slope(D d, V x, V dz, V left) {
  const V slope = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), left, hn::Sub(hn::Set(d, 1.0F), left));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Mul(dz, slope));
}

/// apply(d, in, alpha, out): `outputs` vectors from `inputs` vectors.
template <class Formula>
struct Vector;

template <std::size_t in, std::size_t out>
struct Arity {
  static constexpr std::size_t inputs = in, outputs = out;
};

template <>
struct Vector<Gelu> : Arity<1, 1> {
  template <class D, class V>
  static HWY_INLINE void apply(D d, const V (&in)[1], float, V (&out)[1]) {
    const V a = bounded(d, in[0], largest_normal);
    const auto [exponential, mills] = normal_tail_of(d, a);
    out[0] = hn::NegMulAdd(hn::Mul(a, exponential), mills, positive_part_of(d, in[0]));
  }
};

template <>
struct Vector<GeluTanh> : Arity<1, 1> {
  template <class D, class V>
  static HWY_INLINE void apply(D d, const V (&in)[1], float, V (&out)[1]) {
    const V a = bounded(d, in[0], largest_tanh);
    const auto [below, above] = logistic_of(d, tanh_exponent(d, hn::Mul(a, a), a));
    out[0] = hn::NegMulAdd(a, below, positive_part_of(d, in[0]));
  }
};

template <>
struct Vector<Sigmoid> : Arity<1, 1> {
  template <class D, class V>
  static HWY_INLINE void apply(D d, const V (&in)[1], float, V (&out)[1]) {
    const V x = in[0];
    const V e = power_of_two(d, hn::Mul(bounded(d, x, largest_logistic), hn::Set(d, -log2_e)));
    const V one = hn::Set(d, 1.0F);
    const V above = reciprocal(d, hn::Add(e, one));
    const V z = hn::Mul(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), above);
    out[0] = hn::IfThenElse(hn::IsNaN(x), x, z);
  }
};

template <>
struct Vector<GeluBackward> : Arity<2, 1> {
  template <class D, class V>
  static HWY_INLINE void apply(D d, const V (&in)[2], float, V (&out)[1]) {
    const V a = bounded(d, in[0], largest_normal);
    const auto [exponential, mills] = normal_tail_of(d, a);
    const V left = hn::Mul(exponential, hn::NegMulAdd(a, hn::Set(d, density_at_zero), mills));
    out[0] = symmetric_slope(d, in[0], in[1], left);
  }
};

template <>
struct Vector<GeluTanhBackward> : Arity<2, 1> {
  template <class D, class V>
  static HWY_INLINE void apply(D d, const V (&in)[2], float, V (&out)[1]) {
    const V a = bounded(d, in[0], largest_tanh);
    const V square = hn::Mul(a, a), one = hn::Set(d, 1.0F);
    const auto [below, above] = logistic_of(d, tanh_exponent(d, square, a));
    const V slope = hn::MulAdd(square, hn::Set(d, 3 * tanh_cubic), hn::Set(d, tanh_linear));
    const V left = hn::Mul(below, hn::NegMulAdd(hn::Mul(a, above), slope, one));
    out[0] = symmetric_slope(d, in[0], in[1], left);
  }
};

template <>
struct Vector<SigmoidBackward> : Arity<2, 1> {
  template <class D, class V>
  static HWY_INLINE void apply(D d, const V (&in)[2], float, V (&out)[1]) {
    out[0] = hn::Mul(in[1], hn::Mul(in[0], hn::Sub(hn::Set(d, 1.0F), in[0])));
  }
};

template <>
struct Vector<ReluBackward> : Arity<2, 1> {
  template <class D, class V>
  static HWY_INLINE void apply(D d, const V (&in)[2], float, V (&out)[1]) {
    out[0] = hn::IfThenElseZero(hn::Gt(in[0], hn::Zero(d)), in[1]);
  }
};

template <>
struct Vector<MultiplyBackward> : Arity<3, 2> {
  template <class D, class V>
  static HWY_INLINE void apply(D d, const V (&in)[3], float alpha, V (&out)[2]) {
    const V scaled_dz = hn::Mul(hn::Set(d, alpha), in[2]);
    out[0] = hn::Mul(scaled_dz, in[1]);
    out[1] = hn::Mul(scaled_dz, in[0]);
  }
};

template <>
struct Vector<AddBackward> : Arity<1, 2> {
  template <class D, class V>
  static HWY_INLINE void apply(D d, const V (&in)[1], float alpha, V (&out)[2]) {
    out[0] = in[0];
    out[1] = hn::Mul(hn::Set(d, alpha), in[0]);
  }
};

template <>
struct Vector<ChannelBias> : Arity<2, 1> {
  template <class D, class V>
  static HWY_INLINE void apply(D, const V (&in)[2], float, V (&out)[1]) {
    out[0] = hn::Add(in[0], in[1]);
  }
};

template <>
struct Vector<ScaledSum> : Arity<2, 1> {
  template <class D, class V>
  static HWY_INLINE void apply(D d, const V (&in)[2], float alpha, V (&out)[1]) {
    out[0] = hn::MulAdd(hn::Set(d, alpha), in[0], in[1]);
  }
};

template <>
struct Vector<PositivePart> : Arity<1, 1> {
  template <class D, class V>
  static HWY_INLINE void apply(D d, const V (&in)[1], float, V (&out)[1]) {
    out[0] = positive_part_of(d, in[0]);
  }
};

/// Both operations while the numbers are in registers.
template <Chain Formula>
struct Vector<Formula> : Arity<2, 1> {
  template <class D, class V>
  static HWY_INLINE void apply(D d, const V (&in)[2], float alpha, V (&out)[1]) {
    V between[1];
    Vector<typename Formula::First>::apply(d, in, alpha, between);
    Vector<typename Formula::Second>::apply(d, between, alpha, out);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace assay::pointwise
HWY_AFTER_NAMESPACE();

#endif
