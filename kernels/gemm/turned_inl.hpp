// Computes C^T = op(B)^T op(A)^T in place of C = op(A) op(B), compiled once per SIMD target. A tile reads one
// operand row by row along k and the other column by column. A product with a transposed B would have to
// transpose all of B; one with a transposed A would have to cut all of A into slices. As a transpose, each is
// read where it lies. The smaller operand and the result are copied or transposed instead (is_better_turned).

#if defined(ASSAY_GEMM_TURNED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_GEMM_TURNED_INL
#undef ASSAY_GEMM_TURNED_INL
#else
#define ASSAY_GEMM_TURNED_INL
#endif

#include "gemm/blocked.hpp"
#include "gemm/panels_inl.hpp"
#include "gemm/tile_inl.hpp"

#include "assay/caches.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::blocked {
namespace HWY_NAMESPACE {

// The distance of rows of the transposed result.
inline Index turned_distance(const Product& p) {
  const Index distance = pieces(p.m, line) * line;
  return rows_collide(distance) ? distance + line : distance;
}

// Rows of the transposed result that are computed before they are transposed back: a quarter of the
// last-level cache.
inline Index turned_rows(const Product& p) {
  const auto floats = static_cast<Index>(caches().last / 4) / static_cast<Index>(sizeof(float));
  return smaller(p.n, pieces(floats / turned_distance(p), line) * line + line);
}

// The rows [first, first + rows) of C^T.
inline Product turned(const Product& p, Index first, Index rows, float* c) {
  return {.m = rows,
          .n = p.m,
          .k = p.k,
          .a = moved(p.b, p.b_transposed ? first * p.ldb : first),
          .b = p.a,
          .c = c,
          .lda = p.ldb,
          .ldb = p.lda,
          .ldc = turned_distance(p),
          .a_transposed = !p.b_transposed,
          .b_transposed = !p.a_transposed,
          .alpha = p.alpha,
          .beta = 0,
          .filled_rows = true};
}

// to[i * to_distance + j] = from[j * distance + i] for i < rows and j < columns, a line of a row of `to` at a
// time.
inline void turn(const float* from, Index distance, Index rows, Index columns, float* to, Index to_distance) {
  for (Index j0 = 0; j0 < columns; j0 += line) {
    const Index j_end = smaller(columns, j0 + line);
    Index i = 0;
#if HWY_TARGET != HWY_SCALAR
    for (; j_end - j0 == line && i + 4 <= rows; i += 4) {
      for (Index j = j0; j < j_end; j += lanes) {
        transpose_four(from + j * distance + i, distance, to_distance, to + i * to_distance + j);
      }
    }
#endif
    for (; i < rows; ++i) {
      for (Index j = j0; j < j_end; ++j) to[i * to_distance + j] = from[j * distance + i];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::blocked
HWY_AFTER_NAMESPACE();

#endif  // toggle
