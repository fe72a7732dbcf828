// Packs of vectors and the functions from which formulas are composed. Included once per SIMD target, by
// vector_formulas.hpp alone.

#if defined(ASSAY_POINTWISE_VECTOR_PACK) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_POINTWISE_VECTOR_PACK
#undef ASSAY_POINTWISE_VECTOR_PACK
#else
#define ASSAY_POINTWISE_VECTOR_PACK
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::pointwise {
namespace HWY_NAMESPACE {

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

}  // namespace HWY_NAMESPACE
}  // namespace assay::pointwise
HWY_AFTER_NAMESPACE();

#endif
