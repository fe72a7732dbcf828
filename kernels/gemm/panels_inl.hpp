// Copies of operands in the order in which a tile reads them, compiled once per SIMD target.

#if defined(ASSAY_GEMM_PANELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_GEMM_PANELS_INL
#undef ASSAY_GEMM_PANELS_INL
#else
#define ASSAY_GEMM_PANELS_INL
#endif

#include "gemm/tile_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::blocked::HWY_NAMESPACE {

inline void copy(const float* from, Index count, float* to) {
  const Floats d;
  Index i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  for (; i < count; ++i) to[i] = from[i];
}

// Cuts rows of B into panels as wide as a tile: to[j0 * k + l * width + j] = from[l * ldb + j0 + j] for the
// panel at j0, whose width is padded to whole vectors with zeros. Copies eight rows of all panels at a time,
// so that rows are read in memory order.
inline void pack_rows(const float* from, Index ldb, Index k, Index columns, float* to) {
  const Floats d;
  for (Index l0 = 0; l0 < k; l0 += 8) {
    const Index l_end = smaller(k, l0 + 8);
    for (Index j0 = 0; j0 < columns; j0 += tile_columns) {
      const Index panel = smaller(columns - j0, tile_columns);
      const Index width = pieces(panel, lanes) * lanes, filled = panel / lanes * lanes;
      for (Index l = l0; l < l_end; ++l) {
        const float* row = from + l * ldb + j0;
        float* packed = to + j0 * k + l * width;
        for (Index j = 0; j < filled; j += lanes) hn::StoreU(hn::LoadU(d, row + j), d, packed + j);
        if (filled == width) continue;
        hn::StoreU(load_some(d, row + filled, panel - filled), d, packed + filled);
      }
    }
  }
}

// Makes the same panels from columns of a transposed B: to[j0 * k + l * width + j] = from[(j0 + j) * ldb +
// l].
inline void pack_columns(const float* from, Index ldb, Index k, Index columns, float* to) {
  for (Index j = 0; j < columns; j += lanes) {
    const Index j0 = j / tile_columns * tile_columns;
    const Index width = pieces(smaller(columns - j0, tile_columns), lanes) * lanes;
    float* packed = to + j0 * k + j - j0;
    Index l = 0;
#if HWY_TARGET != HWY_SCALAR
    if (j + lanes <= columns) {
      for (; l + 4 <= k; l += 4) transpose_four(Floats(), from + j * ldb + l, ldb, packed + l * width, width);
    }
#endif
    for (; l < k; ++l) {
      for (Index i = 0; i < lanes; ++i) {
        packed[l * width + i] = j + i < columns ? from[(j + i) * ldb + l] : 0;
      }
    }
  }
}

}  // namespace assay::blocked::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
