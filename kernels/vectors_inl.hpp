// Compiles the file that includes it once per SIMD target (tiers.hpp), and has vectors of floats of that
// target, and loads and stores of a part of a vector. A file defines HWY_TARGET_INCLUDE and includes this
// before all that is compiled per target; `using namespace assay::HWY_NAMESPACE` in the namespace of the
// target makes the names known there.

#include "tiers.hpp"

// First, since it chooses the target that the others are read for, and reads the file again for each target.
#include "hwy/foreach_target.h"

#if defined(ASSAY_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_VECTORS_INL
#undef ASSAY_VECTORS_INL
#else
#define ASSAY_VECTORS_INL
#endif

#include "assay/problem.hpp"
#include "blocks.hpp"

#include <cstddef>

#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

constexpr Index lanes = HWY_LANES(float);

// Masked loads and stores of other targets touch the lanes that the mask leaves out: a load may read past the
// end of an array, a store may write what belongs to another thread.
constexpr bool has_masks = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3;

#if HWY_COMPILER_GCC_ACTUAL >= 1300
// GCC 14 takes `count` for any number that its type holds, and the copy for too small.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif
/// Loads the first `count` < lanes numbers at p, and zeros.
HWY_INLINE Vector load_some(Floats d, const float* p, Index count) {
  if constexpr (has_masks) return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, p);
  HWY_ALIGN float copy[lanes] = {};
  for (Index l = 0; l < count; ++l) copy[l] = p[l];
  return hn::Load(d, copy);
}
#if HWY_COMPILER_GCC_ACTUAL >= 1300
#pragma GCC diagnostic pop
#endif

/// Stores the first `count` < lanes numbers of a vector.
HWY_INLINE void store_some(Vector value, Floats d, float* p, Index count) {
  if constexpr (has_masks)
    return hn::BlendedStore(value, hn::FirstN(d, static_cast<std::size_t>(count)), d, p);
  HWY_ALIGN float copy[lanes];
  hn::Store(value, d, copy);
  for (Index l = 0; l < count; ++l) p[l] = copy[l];
}

/// Access to a whole vector or to the first `count` < lanes numbers of one, so that the same code serves
/// both. inside() is zero in the lanes that do not exist.
struct Whole {
  HWY_INLINE Vector load(const float* p) const { return hn::LoadU(Floats(), p); }
  HWY_INLINE void store(Vector value, float* p) const { hn::StoreU(value, Floats(), p); }
  HWY_INLINE void stream(Vector value, float* p) const { hn::Stream(value, Floats(), p); }
  HWY_INLINE Vector inside(Vector value) const { return value; }
};
struct Some {
  Index count;
  HWY_INLINE Vector load(const float* p) const { return load_some(Floats(), p, count); }
  HWY_INLINE void store(Vector value, float* p) const { store_some(value, Floats(), p, count); }
  HWY_INLINE void stream(Vector value, float* p) const { store(value, p); }
  HWY_INLINE Vector inside(Vector value) const {
    return hn::IfThenElseZero(hn::FirstN(Floats(), static_cast<std::size_t>(count)), value);
  }
};

/// Keeps a loaded vector in its register. GCC 12 makes a load with up to three uses an operand of each use,
/// and then reads a vector that lies across two cache lines twice per use.
HWY_INLINE Vector read_once(Vector x) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  asm("" : "+v"(x.raw));
#endif
  return x;
}

/// The sum of `count` numbers. Eight sums side by side: an addition takes two to four cycles, and two start
/// in each.
HWY_INLINE float sum_of(const float* from, Index count) {
  const Floats d;
  constexpr int parts = 8;
  Vector sums[parts];
  for (int k = 0; k < parts; ++k) sums[k] = hn::Zero(d);
  Index i = 0;
  for (; i + parts * lanes <= count; i += parts * lanes) {
    for (int k = 0; k < parts; ++k) sums[k] = hn::Add(sums[k], hn::LoadU(d, from + i + k * lanes));
  }
  for (; i + lanes <= count; i += lanes) sums[0] = hn::Add(sums[0], hn::LoadU(d, from + i));
  if (i < count) sums[1] = hn::Add(sums[1], load_some(d, from + i, count - i));
  for (int stride = parts / 2; stride > 0; stride /= 2) {
    for (int k = 0; k < stride; ++k) sums[k] = hn::Add(sums[k], sums[k + stride]);
  }
  return hn::GetLane(hn::SumOfLanes(d, sums[0]));
}

#if HWY_TARGET != HWY_SCALAR
/// Transposed blocks of four by four: element l of block b of `row k` was element k of block b of vector l.
template <class DN>
struct Turned {
  hn::Vec<DN> row0, row1, row2, row3;
};
template <class DN, class V>
HWY_INLINE Turned<DN> turn_blocks(DN d, V x0, V x1, V x2, V x3) {
  const auto lower02 = hn::InterleaveLower(d, x0, x2), lower13 = hn::InterleaveLower(d, x1, x3);
  const auto upper02 = hn::InterleaveUpper(d, x0, x2), upper13 = hn::InterleaveUpper(d, x1, x3);
  return {hn::InterleaveLower(d, lower02, lower13), hn::InterleaveUpper(d, lower02, lower13),
          hn::InterleaveLower(d, upper02, upper13), hn::InterleaveUpper(d, upper02, upper13)};
}

/// Stores them as rows that are `step` apart.
template <class DN, class V>
HWY_INLINE void store_turned(DN d, V x0, V x1, V x2, V x3, float* to, Index step) {
  const auto x = turn_blocks(d, x0, x1, x2, x3);
  hn::StoreU(x.row0, d, to);
  hn::StoreU(x.row1, d, to + step);
  hn::StoreU(x.row2, d, to + 2 * step);
  hn::StoreU(x.row3, d, to + 3 * step);
}

/// Loads `size` numbers of each size-th of as many rows as there are lanes, `distance` apart: block b of the
/// vector is of row size b.
template <std::size_t size = 4, class DN>
HWY_INLINE hn::Vec<DN> load_blocks(DN d, const float* from, Index distance) {
  if constexpr (hn::MaxLanes(DN()) > size) {
    const hn::Half<DN> half;
    const Index rows = static_cast<Index>(hn::MaxLanes(half));
    return hn::Combine(d, load_blocks<size>(half, from + rows * distance, distance),
                       load_blocks<size>(half, from, distance));
  } else {
    return hn::LoadU(d, from);
  }
}

/// to[l * step + i] = from[i * distance + l] for l < 4 and as many i as there are lanes. Blocks of a vector
/// are four rows apart, so transposing inside the blocks puts all numbers in order.
template <class DN>
HWY_INLINE void transpose_four(DN d, const float* from, Index distance, float* to, Index step) {
  store_turned(d, load_blocks(d, from, distance), load_blocks(d, from + distance, distance),
               load_blocks(d, from + 2 * distance, distance), load_blocks(d, from + 3 * distance, distance),
               to, step);
}
#endif

}  // namespace assay::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
