// Products of a matrix with a vector, compiled once per SIMD target: rows are dotted with x, or scaled and
// added to y. Either way the matrix is read once, in memory order.

#if defined(ASSAY_GEMV_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_GEMV_ROWS_INL
#undef ASSAY_GEMV_ROWS_INL
#else
#define ASSAY_GEMV_ROWS_INL
#endif

#include "assay/caches.hpp"
#include "assay/problem.hpp"

#include <cstddef>

#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::gemv::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

/// A[m, n], whose rows are lda floats apart.
struct Matrix {
  const float* a = nullptr;
  Index m = 0, n = 0, lda = 0;
};

/// Calls store(r, sum_j a[r * lda + j] x[j]) for `rows` rows, each with `parts` vectors of sums.
template <Index rows, Index parts, class Store>
HWY_INLINE void dot_rows(const float* a, Index lda, const float* x, Index n, const Store& store) {
  const Floats d;
  Vector sums[static_cast<std::size_t>(rows)][static_cast<std::size_t>(parts)];
  for (auto& row : sums) {
    for (Vector& sum : row) sum = hn::Zero(d);
  }
  Index j = 0;
  for (; j + parts * lanes <= n; j += parts * lanes) {
    for (Index s = 0; s < parts; ++s) {
      const Vector from_x = hn::LoadU(d, x + j + s * lanes);
      for (Index r = 0; r < rows; ++r) {
        sums[r][s] = hn::MulAdd(hn::LoadU(d, a + r * lda + j + s * lanes), from_x, sums[r][s]);
      }
    }
  }
  for (; j + lanes <= n; j += lanes) {
    const Vector from_x = hn::LoadU(d, x + j);
    for (Index r = 0; r < rows; ++r)
      sums[r][0] = hn::MulAdd(hn::LoadU(d, a + r * lda + j), from_x, sums[r][0]);
  }
  for (Index r = 0; r < rows; ++r) {
    Vector all = sums[r][0];
    for (Index s = 1; s < parts; ++s) all = hn::Add(all, sums[r][s]);
    float sum = hn::GetLane(hn::SumOfLanes(d, all));
    for (Index i = j; i < n; ++i) sum += a[r * lda + i] * x[i];
    store(r, sum);
  }
}

/// Calls store(i, sum_j A[i, j] x[j]) for the rows i in [begin, end). Short rows go in fours, which share
/// each vector of x and wait together for the sums across a vector. Long rows go one by one: the prefetchers
/// follow a single stream from row to row. From the third-level cache that was 1.06 to 1.2 times as fast as
/// four streams, on a Zen 5 with either width of vectors. At 16 vectors both took the same time.
template <class Store>
HWY_INLINE void dot_all_rows(const Matrix& of, const float* x, Index begin, Index end, const Store& store) {
  Index i = begin;
  if (of.n < 16 * lanes) {
    for (; i + 4 <= end; i += 4) {
      dot_rows<4, 2>(of.a + i * of.lda, of.lda, x, of.n,
                     [&](Index r, float sum) HWY_ATTR { store(i + r, sum); });
    }
  }
  for (; i < end; ++i) {
    dot_rows<1, 4>(of.a + i * of.lda, of.lda, x, of.n, [&](Index, float sum) HWY_ATTR { store(i, sum); });
  }
}

/// The numbers alpha x[i * step].
struct Scales {
  const float* x = nullptr;
  Index step = 1;
  float alpha = 1;
  HWY_INLINE float at(Index i) const { return alpha * x[i * step]; }
};

/// y[j] (+)= sum_r A[r, j] x[r] for `rows` rows from row i on and j in [begin, end).
template <Index rows>
HWY_INLINE void add_rows(const Matrix& of, const Scales& x, Index i, Index begin, Index end, bool first,
                         float* y) {
  const Floats d;
  const float* const a = of.a + i * of.lda;
  const Index lda = of.lda;
  float scale[static_cast<std::size_t>(rows)];
  for (Index r = 0; r < rows; ++r) scale[r] = x.at(i + r);
  Index j = begin;
  for (; j + lanes <= end; j += lanes) {
    // Two sums, since a single sum waits for each of its eight additions.
    Vector even = first ? hn::Zero(d) : hn::LoadU(d, y + j), odd = hn::Zero(d);
    for (Index r = 0; r < rows; ++r) {
      Vector& sum = r % 2 == 0 ? even : odd;
      sum = hn::MulAdd(hn::LoadU(d, a + r * lda + j), hn::Set(d, scale[r]), sum);
    }
    hn::StoreU(hn::Add(even, odd), d, y + j);
  }
  for (; j < end; ++j) {
    float sum = first ? 0 : y[j];
    for (Index r = 0; r < rows; ++r) sum += a[r * lda + j] * scale[r];
    y[j] = sum;
  }
}

/// y[j] (+)= sum_i A[i, j] x[i] for all rows and `vectors` vectors of columns from j on, whose sums stay in
/// registers.
template <Index vectors>
HWY_INLINE void add_columns(const Matrix& of, const Scales& x, Index j, bool adds, float* y) {
  const Floats d;
  Vector sums[static_cast<std::size_t>(vectors)];
  for (Index v = 0; v < vectors; ++v) sums[v] = adds ? hn::LoadU(d, y + j + v * lanes) : hn::Zero(d);
  const float* row = of.a + j;
  for (Index i = 0; i < of.m; ++i, row += of.lda) {
    const Vector scale = hn::Set(d, x.at(i));
    for (Index v = 0; v < vectors; ++v) sums[v] = hn::MulAdd(hn::LoadU(d, row + v * lanes), scale, sums[v]);
  }
  for (Index v = 0; v < vectors; ++v) hn::StoreU(sums[v], d, y + j + v * lanes);
}

/// y[j] = sum_i A[i, j] x[i] for j in [begin, end), or y[j] += … if it `adds`. Takes eight rows at a time, so
/// y is read and written once per eight rows.
HWY_INLINE void add_all_rows(const Matrix& of, const Scales& x, Index begin, Index end, bool adds, float* y) {
#if HWY_TARGET == HWY_AVX3
  // With half of the registers for y and A in the second-level cache, taking one row after the other took
  // 0.69 of the time at 256 x 256 and 0.94 at 384 x 384; with A further away it took up to 1.08. Twelve
  // registers of AVX2 gained nothing.
  constexpr Index wide = 16;
  if (static_cast<double>(of.m * of.n) * sizeof(float) <= caches().second) {
    for (; begin + wide * lanes <= end; begin += wide * lanes) add_columns<wide>(of, x, begin, adds, y);
    if (begin == end) return;
  }
#endif
  constexpr Index together = 8;
  Index i = 0;
  for (; i + together <= of.m; i += together) add_rows<together>(of, x, i, begin, end, i == 0 && !adds, y);
  for (; i < of.m; ++i) add_rows<1>(of, x, i, begin, end, i == 0 && !adds, y);
}

}  // namespace assay::gemv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
