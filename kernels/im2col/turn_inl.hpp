// Blocks of four by four transposed in vectors, for im2col and col2im, compiled once per SIMD target.

#if defined(ASSAY_IM2COL_TURN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_IM2COL_TURN_INL
#undef ASSAY_IM2COL_TURN_INL
#else
#define ASSAY_IM2COL_TURN_INL
#endif

#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::im2col::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;
using D = Floats;

HWY_INLINE Index larger(Index a, Index b) { return a > b ? a : b; }

#if HWY_TARGET != HWY_SCALAR
/// Blocks 0, 2, … of `even` with those of `odd` after each; and blocks 1, 3, … alike.
template <class V>
HWY_INLINE V even_blocks(V even, V odd) {
  return hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd), even);
}
template <class V>
HWY_INLINE V odd_blocks(V even, V odd) {
  return hn::OddEvenBlocks(odd, hn::SwapAdjacentBlocks(even));
}

/// Transposes eight elements of as many patches as there are lanes, with loads of twice the length.
template <class DN>
HWY_INLINE void transpose_eight(DN d, const float* col, Index size, float* to, Index step) {
  const auto even0 = load_blocks<8>(d, col, size), odd0 = load_blocks<8>(d, col + 4 * size, size);
  const auto even1 = load_blocks<8>(d, col + size, size), odd1 = load_blocks<8>(d, col + 5 * size, size);
  const auto even2 = load_blocks<8>(d, col + 2 * size, size), odd2 = load_blocks<8>(d, col + 6 * size, size);
  const auto even3 = load_blocks<8>(d, col + 3 * size, size), odd3 = load_blocks<8>(d, col + 7 * size, size);
  store_turned(d, even_blocks(even0, odd0), even_blocks(even1, odd1), even_blocks(even2, odd2),
               even_blocks(even3, odd3), to, step);
  store_turned(d, odd_blocks(even0, odd0), odd_blocks(even1, odd1), odd_blocks(even2, odd2),
               odd_blocks(even3, odd3), to + 4 * step, step);
}
#endif

/// to[j, i] = col[i, j] for patches i < width and elements j < count; rows are `step` and `size` apart.
HWY_INLINE void transpose(const float* col, Index size, Index width, Index count, float* to, Index step) {
  Index i = 0;
#if HWY_TARGET != HWY_SCALAR
  if (count >= 4) {
    const auto run = [&](auto d) HWY_ATTR {
      constexpr auto patches = static_cast<Index>(hn::MaxLanes(decltype(d)()));
      for (; i + patches <= width; i += patches) {
        Index j = 0;
        if constexpr (patches >= 8) {
          for (; j + 8 <= count; j += 8) {
            transpose_eight(d, col + i * size + j, size, to + j * step + i, step);
          }
        }
        for (; j < count; j += 4) {
          // The last four overlap the four before.
          const Index from = smaller(j, count - 4);
          transpose_four(d, col + i * size + from, size, to + from * step + i, step);
        }
      }
    };
    run(D());
    if constexpr (lanes > 8) run(hn::CappedTag<float, 8>());
    if constexpr (lanes > 4) run(hn::CappedTag<float, 4>());
    if (i < width && width >= 4) {
      i = width - 4;
      run(hn::CappedTag<float, 4>());
    }
  }
#endif
  for (; i < width; ++i) {
    for (Index j = 0; j < count; ++j) to[j * step + i] = col[i * size + j];
  }
}

}  // namespace assay::im2col::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
