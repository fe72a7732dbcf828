// Products with a vector, compiled once per SIMD target: C is one row or one column, or A has few rows. Each
// element of the matrix is used once or few times, so only the vector is copied and the matrix is read in
// memory order.

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
namespace assay::blocked::HWY_NAMESPACE {

/// c = alpha M x + beta c or alpha M^T x + beta c, where the vector x is one operand of the product.
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

/// c = alpha M x + beta c. Takes dot products of rows of M with x, and copies x where it has a step.
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

/// c = alpha M^T x + beta c. Adds scaled rows of M to c, or to a copied block of it where c has a step.
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

/// Rows of B that are added at a time to a vector of columns of C with `rows` rows: their factors, the sums
/// and a vector of B take 32 or 16 registers.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr Index few_rows_steps(Index rows) { return rows <= 3 ? 8 : 4; }
#else
constexpr Index few_rows_steps(Index rows) { return rows == 2 ? 4 : rows == 3 ? 3 : 2; }
#endif
// With AVX-512, five to eight rows took 1.5 times as long as tiles.
constexpr Index most_few_rows = 4;
// Columns up to which tiles compute three and four rows all the same. With tiles of AVX2 on a Zen 3, 4 x 32 x
// 2000 took 0.5 of the time and 4 x 64 x 1000 took 0.9; 3 x 100 x 3000 took 1.3 times the time.
constexpr Index few_columns = HWY_TARGET == HWY_AVX2 ? 4 * tile_columns : 0;

/// Whether A has so few rows that tiles would wait for their own sums and would read lines of B, ldb apart,
/// one at a time. Only where C is overwritten: terms added one by one to what C holds are each rounded to its
/// digits.
inline bool has_few_rows(const Product& p) {
  const bool narrow = p.m > 2 && p.n <= few_columns;
  return p.m > 1 && p.m <= most_few_rows && !narrow && !p.b_transposed && p.beta == 0;
}

/// C[r, j] (+)= sum over `steps` rows of B from l on of alpha A[r, l] B[l, j], for j in [begin, end).
template <Index rows, Index steps>
HWY_INLINE void add_steps(const Product& p, Index l, Index begin, Index end) {
  const Floats d;
  const Index a_row = p.a_transposed ? 1 : p.lda, a_step = p.a_transposed ? p.lda : 1;
  const bool first = l == 0;  // C may have held NaN before
  Vector factors[static_cast<std::size_t>(rows)][static_cast<std::size_t>(steps)];
  unrolled<rows>([&](auto r) HWY_ATTR {
    unrolled<steps>([&](auto s) HWY_ATTR {
      factors[r.value][s.value] = hn::Set(d, p.alpha * p.a[r.value * a_row + (l + s.value) * a_step]);
    });
  });
  const float* const b = p.b + l * p.ldb;
  const Index ldb = p.ldb, ldc = p.ldc;
  float* const c = p.c;
  const auto add = [&](const auto& load, const auto& store, Index j) HWY_ATTR {
    Vector sums[static_cast<std::size_t>(rows)];
    unrolled<rows>([&](auto r)
                       HWY_ATTR { sums[r.value] = first ? hn::Zero(d) : load(c + r.value * ldc + j); });
    unrolled<steps>([&](auto s) HWY_ATTR {
      const Vector from_b = load(b + s.value * ldb + j);
      unrolled<rows>([&](auto r) HWY_ATTR {
        sums[r.value] = hn::MulAdd(factors[r.value][s.value], from_b, sums[r.value]);
      });
    });
    unrolled<rows>([&](auto r) HWY_ATTR { store(sums[r.value], c + r.value * ldc + j); });
  };
  Index j = begin;
  for (; j + lanes <= end; j += lanes) {
    add([&](const float* from) HWY_ATTR { return hn::LoadU(d, from); },
        [&](Vector v, float* to) HWY_ATTR { hn::StoreU(v, d, to); }, j);
  }
  if (j == end) return;
  const Index left = end - j;
  add([&](const float* from) HWY_ATTR { return load_some(d, from, left); },
      [&](Vector v, float* to) HWY_ATTR { store_some(v, d, to, left); }, j);
}

template <Index rows>
void multiply_rows(const Product& p) {
  // Columns of C that stay in the first-level cache: half of 32 KiB.
  constexpr Index block = 4096 / rows / line * line;
  constexpr Index steps = few_rows_steps(rows);
  for (Index begin = 0; begin < p.n; begin += block) {
    const Index end = smaller(p.n, begin + block);
    Index l = 0;
    for (; l + steps <= p.k; l += steps) add_steps<rows, steps>(p, l, begin, end);
    for (; l < p.k; ++l) add_steps<rows, 1>(p, l, begin, end);
  }
}

inline void multiply_few_rows(const Product& p) {
  using Multiply = void (*)(const Product&);
  const auto of = [](auto r, auto) -> Multiply { return multiply_rows<r.value + 1>; };
  one_of<most_few_rows - 1, 1>(p.m - 1, 1, of)(p);
}

/// Whether one column is left beside whole vectors of columns; as a tile it would cost a vector. Only where C
/// is overwritten, as above.
inline bool leaves_a_column(const Product& p) {
  return lanes >= 8 && p.n > lanes && p.n % lanes == 1 && p.beta == 0;
}

inline Product without_last_column(Product p) {
  --p.n;
  return p;
}
inline Product last_column(Product p) {
  p.b = moved(p.b, (p.n - 1) * (p.b_transposed ? p.ldb : 1));
  p.c = moved(p.c, p.n - 1);
  p.n = 1;
  return p;
}

}  // namespace assay::blocked::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
