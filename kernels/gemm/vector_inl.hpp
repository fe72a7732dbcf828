// The product whose A or B is a vector, that is C of one row or of one column, compiled once per SIMD target.
// Each element of the matrix is used once, so that nothing is copied but the vector.

#if defined(ASSAY_GEMM_VECTOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_GEMM_VECTOR_INL
#undef ASSAY_GEMM_VECTOR_INL
#else
#define ASSAY_GEMM_VECTOR_INL
#endif

#include "gemm/blocked.hpp"
#include "gemm/tile_inl.hpp"
#include "gemv/rows_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::blocked {
namespace HWY_NAMESPACE {

/// c = alpha M x + beta c or alpha M^T x + beta c: a product of which one operand is the vector x.
struct VectorProduct {
  gemv::HWY_NAMESPACE::Matrix matrix;
  bool adds_rows = false;  // M^T x
  const float* x = nullptr;
  Index x_step = 1, c_step = 1;  // floats between elements
};

inline bool is_vector_product(const Product& p) { return p.m == 1 || p.n == 1; }

inline VectorProduct vector_product(const Product& p) {
  if (p.m == 1) {
    return {
        .matrix = {.a = p.b, .m = p.b_transposed ? p.n : p.k, .n = p.b_transposed ? p.k : p.n, .lda = p.ldb},
        .adds_rows = !p.b_transposed,
        .x = p.a,
        .x_step = p.a_transposed ? p.lda : 1};
  }
  return {
      .matrix = {.a = p.a, .m = p.a_transposed ? p.k : p.m, .n = p.a_transposed ? p.m : p.k, .lda = p.lda},
      .adds_rows = p.a_transposed,
      .x = p.b,
      .x_step = p.b_transposed ? 1 : p.ldb,
      .c_step = p.ldc};
}

/// c = alpha M x + beta c. Rows of M are dotted with x, of which a copy is made where it has a step.
inline void multiply_by_column(const Product& p, const VectorProduct& v) {
  constexpr Index most = 512;
  HWY_ALIGN float copied[most];
  const Index block = v.x_step == 1 ? v.matrix.n : most;
  for (Index l0 = 0; l0 < v.matrix.n; l0 += block) {
    const gemv::HWY_NAMESPACE::Matrix part{
        .a = v.matrix.a + l0, .m = v.matrix.m, .n = smaller(block, v.matrix.n - l0), .lda = v.matrix.lda};
    const float* x = v.x + l0;
    if (v.x_step != 1) {
      for (Index l = 0; l < part.n; ++l) copied[l] = v.x[(l0 + l) * v.x_step];
      x = copied;
    }
    const float beta = l0 == 0 ? p.beta : 1;
    gemv::HWY_NAMESPACE::dot_all_rows(part, x, 0, part.m, [&](Index i, float sum) HWY_ATTR {
      float& c = p.c[i * v.c_step];
      c = beta == 0 ? p.alpha * sum : beta * c + p.alpha * sum;
    });
  }
}

/// c = alpha M^T x + beta c. Scaled rows of M are added to c, or to a block of it where c has a step.
inline void multiply_by_row(const Product& p, const VectorProduct& v) {
  constexpr Index most = 512;
  HWY_ALIGN float copied[most];
  const Index block = v.c_step == 1 ? v.matrix.n : most;
  for (Index j0 = 0; j0 < v.matrix.n; j0 += block) {
    const gemv::HWY_NAMESPACE::Matrix part{
        .a = v.matrix.a + j0, .m = v.matrix.m, .n = smaller(block, v.matrix.n - j0), .lda = v.matrix.lda};
    float* const c = p.c + j0 * v.c_step;
    float* const y = v.c_step == 1 ? c : copied;
    if (p.beta != 0) {
      for (Index j = 0; j < part.n; ++j) y[j] = p.beta * c[j * v.c_step];
    }
    gemv::HWY_NAMESPACE::add_all_rows(part, {.x = v.x, .step = v.x_step, .alpha = p.alpha}, 0, part.n,
                                      p.beta != 0, y);
    if (y == c) continue;
    for (Index j = 0; j < part.n; ++j) c[j * v.c_step] = y[j];
  }
}

inline void multiply_by_vector(const Product& p) {
  const VectorProduct v = vector_product(p);
  if (v.adds_rows) {
    multiply_by_row(p, v);
  } else {
    multiply_by_column(p, v);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::blocked
HWY_AFTER_NAMESPACE();

#endif  // toggle
