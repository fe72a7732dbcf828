// Packs of vectors, the functions from which formulas are composed, and each formula on packs. Included once
// per SIMD target by each file that needs it, after the header that chooses the targets: pointwise/simd.cpp
// uses all formulas, softmax_cross_entropy and attention use powers.
//
// GELU and its gradient are symmetric: gelu(x) = max(x, 0) - a Phi(-a) and gelu'(x) = 1 - gelu'(-x) with a =
// |x|. One polynomial for the tail serves both signs, and likewise in the tanh form; nothing cancels. Each
// exponential is of a bounded number, so no infinity meets a zero. A NaN comes from x itself.

#if defined(ASSAY_POINTWISE_VECTOR_FORMULAS) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_POINTWISE_VECTOR_FORMULAS
#undef ASSAY_POINTWISE_VECTOR_FORMULAS
#else
#define ASSAY_POINTWISE_VECTOR_FORMULAS
#endif

#include "assay/ops/pointwise.hpp"
#include "pointwise/coefficients.hpp"
#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::pointwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// `count` vectors that are computed side by side. The steps of one formula wait for each other for some 100
/// cycles, and the processor looks only some 100 instructions ahead. With one vector after the other it would
/// see three or four vectors, and half of its cycles would be empty.
template <class D, std::size_t count>
struct Pack {
  hn::Vec<D> v[count];
};
/// The tag for the type of a pack, as D is for a vector.
template <class D, std::size_t count>
struct PackTag {};

template <class D, std::size_t count>
HWY_INLINE Pack<D, count> set(PackTag<D, count>, float x) {
  Pack<D, count> out;
  for (std::size_t k = 0; k < count; ++k) out.v[k] = hn::Set(D(), x);
  return out;
}
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> add(Pack<D, n> a, Pack<D, n> b) {
  for (std::size_t k = 0; k < n; ++k) a.v[k] = hn::Add(a.v[k], b.v[k]);
  return a;
}
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> sub(Pack<D, n> a, Pack<D, n> b) {
  for (std::size_t k = 0; k < n; ++k) a.v[k] = hn::Sub(a.v[k], b.v[k]);
  return a;
}
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> mul(Pack<D, n> a, Pack<D, n> b) {
  for (std::size_t k = 0; k < n; ++k) a.v[k] = hn::Mul(a.v[k], b.v[k]);
  return a;
}
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> div(Pack<D, n> a, Pack<D, n> b) {
  for (std::size_t k = 0; k < n; ++k) a.v[k] = hn::Div(a.v[k], b.v[k]);
  return a;
}
/// a b + c
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> mul_add(Pack<D, n> a, Pack<D, n> b, Pack<D, n> c) {
  for (std::size_t k = 0; k < n; ++k) a.v[k] = hn::MulAdd(a.v[k], b.v[k], c.v[k]);
  return a;
}
/// c - a b
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> neg_mul_add(Pack<D, n> a, Pack<D, n> b, Pack<D, n> c) {
  for (std::size_t k = 0; k < n; ++k) a.v[k] = hn::NegMulAdd(a.v[k], b.v[k], c.v[k]);
  return a;
}
/// |x|, at most `limit`, and `limit` for NaN: where a comparison fails, x86 takes the second operand.
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> bounded(Pack<D, n> x, float limit) {
  for (std::size_t k = 0; k < n; ++k) x.v[k] = hn::Min(hn::Abs(x.v[k]), hn::Set(D(), limit));
  return x;
}
/// The larger, or the smaller, of x and `limit`; any number for NaN.
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> raised(Pack<D, n> x, float limit) {
  for (std::size_t k = 0; k < n; ++k) x.v[k] = hn::Max(x.v[k], hn::Set(D(), limit));
  return x;
}
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> lowered(Pack<D, n> x, float limit) {
  for (std::size_t k = 0; k < n; ++k) x.v[k] = hn::Min(x.v[k], hn::Set(D(), limit));
  return x;
}
/// The larger of x and `limit`, and NaN for NaN.
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> at_least(Pack<D, n> x, float limit) {
  const auto bound = hn::Set(D(), limit);
  for (std::size_t k = 0; k < n; ++k) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    x.v[k] = hn::Max(bound, x.v[k]);
#else
    x.v[k] = hn::IfThenElse(hn::Lt(x.v[k], bound), bound, x.v[k]);
#endif
  }
  return x;
}
/// `yes` where x < 0, else `no`.
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> where_negative(Pack<D, n> x, Pack<D, n> yes, Pack<D, n> no) {
  for (std::size_t k = 0; k < n; ++k)
    x.v[k] = hn::IfThenElse(hn::Lt(x.v[k], hn::Zero(D())), yes.v[k], no.v[k]);
  return x;
}
/// x where it is NaN, else `other`.
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> nan_or(Pack<D, n> x, Pack<D, n> other) {
  for (std::size_t k = 0; k < n; ++k) x.v[k] = hn::IfThenElse(hn::IsNaN(x.v[k]), x.v[k], other.v[k]);
  return x;
}
/// 0 where x < 0, else x.
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> positive_part_of(Pack<D, n> x) {
  for (std::size_t k = 0; k < n; ++k) x.v[k] = hn::IfThenZeroElse(hn::Lt(x.v[k], hn::Zero(D())), x.v[k]);
  return x;
}
/// y where x > 0, else 0.
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> where_positive(Pack<D, n> x, Pack<D, n> y) {
  for (std::size_t k = 0; k < n; ++k) x.v[k] = hn::IfThenElseZero(hn::Gt(x.v[k], hn::Zero(D())), y.v[k]);
  return x;
}
/// x times 2 to the power of the whole number in the lowest bits of `whole`: an addition to the exponent.
template <class D, std::size_t n>
HWY_INLINE Pack<D, n> times_power(Pack<D, n> x, Pack<D, n> whole) {
  const hn::RebindToSigned<D> di;
  for (std::size_t k = 0; k < n; ++k) {
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, whole.v[k]));
    x.v[k] = hn::BitCast(D(), hn::Add(hn::BitCast(di, x.v[k]), exponent));
  }
  return x;
}

/// first + x (terms[0] + x (terms[1] + …)).
template <class Tag, class P, std::size_t count>
HWY_INLINE P polynomial(Tag d, P x, float first, const float (&terms)[count]) {
  P sum = set(d, terms[count - 1]);
  for (std::size_t i = count - 1; i-- > 0;) sum = mul_add(sum, x, set(d, terms[i]));
  return mul_add(sum, x, set(d, first));
}

/// 2^w for w <= 128: 0 for w <= -127, infinity at 128, and any number for NaN. Below the normal range, w <=
/// -126, only the magnitude is right.
template <class Tag, class P>
HWY_INLINE P power_of_two(Tag d, P w) {
  w = raised(w, -127.0F);
  // Adding 1.5 2^23 leaves the nearest whole number in the lowest bits.
  const P shift = set(d, 0x1.8p23F);
  const P shifted = add(w, shift);
  return times_power(polynomial(d, sub(w, sub(shifted, shift)), 1.0F, power_terms), shifted);
}

/// tanh(x) = m / (2 - m), m = 1 - exp(-2 x). With the power 2^k (1 + p) for the exponential, m is (1 - 2^k) -
/// 2^k p, which keeps its digits where x is small; 1 - exp(-2 x) and 2 s(2 x) - 1 lose them.
template <class Tag, class P>
HWY_INLINE P tanh_of(Tag d, P x) {
  const P w = mul(lowered(raised(x, -10.0F), 10.0F), set(d, -2 * log2_e)), one = set(d, 1.0F);
  const P shift = set(d, 0x1.8p23F), shifted = add(w, shift), f = sub(w, sub(shifted, shift));
  const P power = times_power(one, shifted), less_one = polynomial(d, f, 0.0F, power_less_one_terms);
  const P m = neg_mul_add(power, less_one, sub(one, power));
  return nan_or(x, div(m, sub(set(d, 2.0F), m)));
}

template <class P>
struct NormalTail {
  P exponential, mills;  ///< exp(-a^2 / 2), and exp(a^2 / 2) Phi(-a)
};
template <class Tag, class P>
HWY_INLINE NormalTail<P> normal_tail_of(Tag d, P a) {
  const P one = set(d, 1.0F);
  const P t = div(one, mul_add(a, set(d, tail_scale), one));
  return {power_of_two(d, mul(mul(a, a), set(d, -0.5F * log2_e))), polynomial(d, t, 0.0F, tail_terms)};
}

/// The logarithm to base 2 of exp(-v), where v is the argument of the logistic function in the tanh form.
template <class Tag, class P>
HWY_INLINE P tanh_exponent(Tag d, P square, P x) {
  return mul(x, mul_add(square, set(d, -log2_e * tanh_cubic), set(d, -log2_e * tanh_linear)));
}

/// 1 + 2^w, infinity where w >= 128.
template <class Tag, class P>
HWY_INLINE P one_and_power(Tag d, P w) {
  return add(power_of_two(d, lowered(w, 128.0F)), set(d, 1.0F));
}

/// dz times a slope that is `left` at -|x|; NaN where x is NaN.
template <class Tag, class P>
HWY_INLINE P symmetric_slope(Tag d, P x, P dz, P left) {
  return nan_or(x, mul(dz, where_negative(x, left, sub(set(d, 1.0F), left))));
}

// compute(formula, d, in, alpha, out) computes the outputs of each formula, packs, from its inputs.

template <class Tag, class P>
HWY_INLINE void compute(Gelu, Tag d, const P (&in)[1], float, P (&out)[1]) {
  const P a = bounded(in[0], largest_normal);
  const auto [exponential, mills] = normal_tail_of(d, a);
  out[0] = neg_mul_add(mul(a, exponential), mills, positive_part_of(in[0]));
}

template <class Tag, class P>
HWY_INLINE void compute(GeluTanh, Tag d, const P (&in)[1], float, P (&out)[1]) {
  const P x = at_least(in[0], -largest_tanh);  // no infinity is divided by infinity
  out[0] = div(x, one_and_power(d, tanh_exponent(d, mul(x, x), x)));
}

template <class Tag, class P>
HWY_INLINE void compute(Sigmoid, Tag d, const P (&in)[1], float, P (&out)[1]) {
  out[0] = nan_or(in[0], div(set(d, 1.0F), one_and_power(d, mul(in[0], set(d, -log2_e)))));
}

template <class Tag, class P>
HWY_INLINE void compute(GeluBackward, Tag d, const P (&in)[2], float, P (&out)[1]) {
  const P a = bounded(in[0], largest_normal);
  const auto [exponential, mills] = normal_tail_of(d, a);
  const P left = mul(exponential, neg_mul_add(a, set(d, density_at_zero), mills));
  out[0] = symmetric_slope(d, in[0], in[1], left);
}

template <class Tag, class P>
HWY_INLINE void compute(GeluTanhBackward, Tag d, const P (&in)[2], float, P (&out)[1]) {
  const P a = bounded(in[0], largest_tanh);
  const P square = mul(a, a), one = set(d, 1.0F);
  const P e = power_of_two(d, tanh_exponent(d, square, a));
  const P above = div(one, add(e, one)), below = mul(e, above);
  const P slope = mul_add(square, set(d, 3 * tanh_cubic), set(d, tanh_linear));
  const P left = mul(below, neg_mul_add(mul(a, above), slope, one));
  out[0] = symmetric_slope(d, in[0], in[1], left);
}

template <class Tag, class P>
HWY_INLINE void compute(SigmoidBackward, Tag d, const P (&in)[2], float, P (&out)[1]) {
  out[0] = mul(in[1], mul(in[0], sub(set(d, 1.0F), in[0])));
}

template <class Tag, class P>
HWY_INLINE void compute(ReluBackward, Tag, const P (&in)[2], float, P (&out)[1]) {
  out[0] = where_positive(in[0], in[1]);
}

template <class Tag, class P>
HWY_INLINE void compute(MultiplyBackward, Tag d, const P (&in)[3], float alpha, P (&out)[2]) {
  const P scaled_dz = mul(set(d, alpha), in[2]);
  out[0] = mul(scaled_dz, in[1]);
  out[1] = mul(scaled_dz, in[0]);
}

template <class Tag, class P>
HWY_INLINE void compute(AddBackward, Tag d, const P (&in)[1], float alpha, P (&out)[2]) {
  out[0] = in[0];
  out[1] = mul(set(d, alpha), in[0]);
}

template <bool nesterov, class Tag, class P>
HWY_INLINE void compute(SgdStep<nesterov>, Tag d, const P (&in)[3], float, P (&out)[2]) {
  using F = SgdStep<nesterov>;
  const P mu = set(d, static_cast<float>(F::momentum));
  const P step = mul_add(in[0], set(d, static_cast<float>(F::decay)), in[1]);
  out[1] = mul_add(mu, in[2], step);
  out[0] =
      neg_mul_add(nesterov ? mul_add(mu, out[1], step) : out[1], set(d, static_cast<float>(F::rate)), in[0]);
}

template <class Tag, class P>
HWY_INLINE void compute(ChannelBias, Tag, const P (&in)[2], float, P (&out)[1]) {
  out[0] = add(in[0], in[1]);
}

template <class Tag, class P>
HWY_INLINE void compute(ScaledSum, Tag d, const P (&in)[2], float alpha, P (&out)[1]) {
  out[0] = mul_add(set(d, alpha), in[0], in[1]);
}

template <class Tag, class P>
HWY_INLINE void compute(PositivePart, Tag, const P (&in)[1], float, P (&out)[1]) {
  out[0] = positive_part_of(in[0]);
}

/// Computes both operations while the numbers are in registers.
template <Chain Formula, class Tag, class P>
HWY_INLINE void compute(Formula, Tag d, const P (&in)[2], float alpha, P (&out)[1]) {
  P between[1];
  compute(typename Formula::First(), d, in, alpha, between);
  compute(typename Formula::Second(), d, between, alpha, out);
}

}  // namespace assay::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
