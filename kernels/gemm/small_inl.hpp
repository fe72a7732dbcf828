// The product without blocks, compiled once per SIMD target: tile after tile over operands where they lie. It
// is for products that the caches hold whole: deciding what to copy would cost more than copying saves.

#if defined(ASSAY_GEMM_SMALL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_GEMM_SMALL_INL
#undef ASSAY_GEMM_SMALL_INL
#else
#define ASSAY_GEMM_SMALL_INL
#endif

#include "gemm/blocked.hpp"
#include "gemm/panels_inl.hpp"
#include "gemm/tile_inl.hpp"
#include "gemm/vector_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::blocked {
namespace HWY_NAMESPACE {

// Columns of B that are read in place: none of a transposed B, and not those of a last partial vector, since
// vectors are read whole.
inline Index small_columns_in_place(const Product& p) {
  if (p.b_transposed) return 0;
  return p.n % lanes == 0 ? p.n : p.n / tile_columns * tile_columns;
}

inline Index small_space_floats(const Product& p) {
  return p.k * pieces(p.n - small_columns_in_place(p), lanes) * lanes;
}

inline void multiply_small(const Product& p, float* space) {
  if (is_vector_product(p)) return multiply_by_vector(p);
  if (has_few_rows(p)) return multiply_few_rows(p);
  if (leaves_a_column(p)) {
    multiply_by_vector(last_column(p));
    return multiply_small(without_last_column(p), space);
  }
  const Index in_place = small_columns_in_place(p);
  if (p.b_transposed) {
    pack_columns(p.b, p.ldb, p.k, p.n, space);
  } else if (in_place < p.n) {
    pack_rows(p.b + in_place, p.ldb, p.k, p.n - in_place, space);
  }
  const Index tiles = pieces(p.m, tile_rows);
  Operands o{.k = p.k,
             .a_row = p.a_transposed ? 1 : p.lda,
             .a_step = p.a_transposed ? p.lda : 1,
             .ldc = p.ldc,
             .alpha = p.alpha,
             .beta = p.beta};
  for (Index j = 0; j < p.n; j += tile_columns) {
    o.columns = smaller(p.n - j, tile_columns);
    const Index vectors = pieces(o.columns, lanes);
    o.b = j < in_place ? p.b + j : space + (j - in_place) * p.k;
    o.b_step = j < in_place ? p.ldb : vectors * lanes;
    for (Index t = 0, i = 0; t < tiles; ++t) {
      const Index height = p.m * (t + 1) / tiles - i;
      o.a = p.a + i * o.a_row;
      o.c = p.c + i * p.ldc + j;
      tile_of(height, vectors)(o);
      i += height;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::blocked
HWY_AFTER_NAMESPACE();

#endif  // toggle
