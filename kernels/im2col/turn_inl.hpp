// Vectors of the SIMD target that a file is being compiled for, and blocks of four by four turned in them:
// what im2col and col2im share above the instructions. Included once per target, after hwy/highway.h.

#if defined(ASSAY_IM2COL_TURN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_IM2COL_TURN_INL
#undef ASSAY_IM2COL_TURN_INL
#else
#define ASSAY_IM2COL_TURN_INL
#endif

#include "assay/problem.hpp"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::im2col {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
constexpr auto lanes = static_cast<Index>(hn::MaxLanes(D()));

// Masked loads and stores elsewhere touch the elements that they leave out.
constexpr bool has_masks = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3;

HWY_INLINE Index smaller(Index a, Index b) { return a < b ? a : b; }
HWY_INLINE Index larger(Index a, Index b) { return a > b ? a : b; }

#if HWY_TARGET != HWY_SCALAR
/// Blocks of four by four: element l of block b of `row k` was element k of block b of vector l.
template <class DN>
struct Turned {
  hn::Vec<DN> row0, row1, row2, row3;
};
template <class DN, class V>
HWY_INLINE Turned<DN> turn(DN d, V x0, V x1, V x2, V x3) {
  const auto lower02 = hn::InterleaveLower(d, x0, x2), lower13 = hn::InterleaveLower(d, x1, x3);
  const auto upper02 = hn::InterleaveUpper(d, x0, x2), upper13 = hn::InterleaveUpper(d, x1, x3);
  return {hn::InterleaveLower(d, lower02, lower13), hn::InterleaveUpper(d, lower02, lower13),
          hn::InterleaveLower(d, upper02, upper13), hn::InterleaveUpper(d, upper02, upper13)};
}

/// Blocks 0, 2, … of `even` with those of `odd` after each; and blocks 1, 3, … alike.
template <class V>
HWY_INLINE V even_blocks(V even, V odd) {
  return hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd), even);
}
template <class V>
HWY_INLINE V odd_blocks(V even, V odd) {
  return hn::OddEvenBlocks(odd, hn::SwapAdjacentBlocks(even));
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace assay::im2col
HWY_AFTER_NAMESPACE();
#endif
