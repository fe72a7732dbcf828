// The product of few rows of A with a transposed B, compiled once per SIMD target. Rows of A and stored rows
// of B both run along k, so vectors lie along k too. A tile is R rows by four columns of vectors of partial
// sums. B is not transposed, which would pay only for many rows of A.

#if defined(ASSAY_GEMM_DOTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_GEMM_DOTS_INL
#undef ASSAY_GEMM_DOTS_INL
#else
#define ASSAY_GEMM_DOTS_INL
#endif

#include "gemm/blocked.hpp"
#include "gemm/tile_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::blocked::HWY_NAMESPACE {

// The sums, four vectors of B and one of A take 32 or 16 registers.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr Index dot_rows = 6;
#else
constexpr Index dot_rows = 2;
#endif
constexpr Index dot_columns = 4;
// Four columns of B of 512 steps take 8 KiB, 16 rows of A 32 KiB: both stay in a first-level cache of 48 KiB.
// With 1024 steps, 16 x 768 x 3072 took 1.05 times as long. Shorter blocks add partial sums more often.
constexpr Index dot_k = 512;

struct Dots {
  Index steps = 0;           // in vectors
  const float* a = nullptr;  // a[step][row] of whole vectors
  const float* b[dot_columns] = {};
  const float* b_tail = nullptr;  // the rest of each column, padded with zeros to a vector; or null
  Index next_b = 0;               // distance to the next columns
  float* c = nullptr;
  Index ldc = 0, columns = 0;
  float alpha = 1, beta = 0;
};

#if HWY_TARGET == HWY_SCALAR
// A vector of one number gains nothing here.
inline bool multiplies_by_dots(const Product&) { return false; }
inline Index dots_space(const Product&) { return 0; }
inline void multiply_by_dots(const Product&, float*) {}
#else

using Four = hn::FixedTag<float, 4>;

// The sums of all blocks of four lanes.
template <class V>
HWY_INLINE hn::Vec<Four> sum_of_blocks(V v) {
  const hn::DFromV<V> d;
  if constexpr (hn::MaxLanes(d) == 4) {
    return v;
  } else {
    const hn::Half<decltype(d)> half;
    return sum_of_blocks(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// {sum of x0, sum of x1, sum of x2, sum of x3}
HWY_INLINE hn::Vec<Four> four_sums(Vector x0, Vector x1, Vector x2, Vector x3) {
  const Floats d;
  const hn::Repartition<double, Floats> d64;
  const Vector x01 = hn::Add(hn::InterleaveLower(d, x0, x1), hn::InterleaveUpper(d, x0, x1));
  const Vector x23 = hn::Add(hn::InterleaveLower(d, x2, x3), hn::InterleaveUpper(d, x2, x3));
  const auto pair01 = hn::BitCast(d64, x01), pair23 = hn::BitCast(d64, x23);
  return sum_of_blocks(hn::Add(hn::BitCast(d, hn::InterleaveLower(d64, pair01, pair23)),
                               hn::BitCast(d, hn::InterleaveUpper(d64, pair01, pair23))));
}

template <Index rows>
void dot_tile(const Dots& o) {
  const Floats d;
  const Four four;
  Vector sums[static_cast<std::size_t>(rows)][4];
  unrolled<rows>(
      [&](auto r) HWY_ATTR { unrolled<4>([&](auto j) HWY_ATTR { sums[r.value][j.value] = hn::Zero(d); }); });
  const float* a = o.a;
  const float *b0 = o.b[0], *b1 = o.b[1], *b2 = o.b[2], *b3 = o.b[3];
  const auto step = [&](Vector x0, Vector x1, Vector x2, Vector x3) HWY_ATTR {
    unrolled<rows>([&](auto r) HWY_ATTR {
      const Vector from_a = hn::LoadU(d, a + r.value * lanes);
      sums[r.value][0] = hn::MulAdd(from_a, x0, sums[r.value][0]);
      sums[r.value][1] = hn::MulAdd(from_a, x1, sums[r.value][1]);
      sums[r.value][2] = hn::MulAdd(from_a, x2, sums[r.value][2]);
      sums[r.value][3] = hn::MulAdd(from_a, x3, sums[r.value][3]);
    });
    a += rows * lanes;
  };
  const Index next = o.next_b;
  for (Index l = 0; l < o.steps * lanes; l += lanes) {
    step(hn::LoadU(d, b0 + l), hn::LoadU(d, b1 + l), hn::LoadU(d, b2 + l), hn::LoadU(d, b3 + l));
    hwy::Prefetch(b0 + l + next);
    hwy::Prefetch(b1 + l + next);
    hwy::Prefetch(b2 + l + next);
    hwy::Prefetch(b3 + l + next);
  }
  if (o.b_tail != nullptr) {
    step(hn::Load(d, o.b_tail), hn::Load(d, o.b_tail + lanes), hn::Load(d, o.b_tail + 2 * lanes),
         hn::Load(d, o.b_tail + 3 * lanes));
  }
  const auto alpha = hn::Set(four, o.alpha), beta = hn::Set(four, o.beta);
  float* c = o.c;
  unrolled<rows>([&](auto r) HWY_ATTR {
    auto value =
        hn::Mul(alpha, four_sums(sums[r.value][0], sums[r.value][1], sums[r.value][2], sums[r.value][3]));
    if (o.columns == 4) {
      if (o.beta != 0) value = hn::MulAdd(beta, hn::LoadU(four, c), value);
      hn::StoreU(value, four, c);
    } else {
      HWY_ALIGN float partial[4];
      hn::Store(value, four, partial);
      for (Index j = 0; j < o.columns; ++j) c[j] = o.beta == 0 ? partial[j] : o.beta * c[j] + partial[j];
    }
    c += o.ldc;
  });
}

using DotTile = void (*)(const Dots&);
inline DotTile dot_tile_of(Index rows) {
  return one_of<dot_rows, 1>(rows, 1, [](auto r, auto) -> DotTile { return dot_tile<r.value>; });
}

// Whether the product is computed this way. With AVX-512, up to two tiles of rows are too few to pay for
// transposing B. With AVX2, more than one tile is faster as the transpose (simd.cpp): on a Zen 3 this
// way took 0.4 to 0.6 of the time at two to four rows, 0.8 to 1.2 at six, and 1.1 to 1.8 times the time at 7
// to 12.
inline bool multiplies_by_dots(const Product& p) {
#if HWY_TARGET == HWY_AVX3
  constexpr Index most = 2 * tile_rows;
#else
  constexpr Index most = tile_rows;
#endif
  return p.b_transposed && p.m <= most && p.k >= 256;
}

inline Index dots_space(const Product& p) { return p.m * pieces(smaller(p.k, dot_k), lanes) * lanes; }

// Copies A in blocks of one vector of steps by the rows of a tile, padded with zeros.
inline void pack_for_dots(const Product& p, Index l0, Index k, float* to) {
  const Index row = p.a_transposed ? 1 : p.lda, column = p.a_transposed ? p.lda : 1;
  for (Index i0 = 0; i0 < p.m;) {
    const Index height = next_block(p.m - i0, dot_rows);
    for (Index l = 0; l < k; l += lanes) {
      for (Index r = 0; r < height; ++r, to += lanes) {
        const float* from = p.a + (i0 + r) * row + (l0 + l) * column;
        const Index filled = smaller(k - l, lanes);
        for (Index i = 0; i < filled; ++i) to[i] = from[i * column];
        for (Index i = filled; i < lanes; ++i) to[i] = 0;
      }
    }
    i0 += height;
  }
}

inline void multiply_by_dots(const Product& p, float* space) {
  HWY_ALIGN float tail[static_cast<std::size_t>(dot_columns * lanes)];
  for (Index l0 = 0; l0 < p.k; l0 += dot_k) {
    const Index k = smaller(p.k - l0, dot_k), whole = k / lanes * lanes;
    pack_for_dots(p, l0, k, space);
    Dots o{.steps = whole / lanes, .ldc = p.ldc, .alpha = p.alpha, .beta = l0 == 0 ? p.beta : 1};
    if (whole < k) o.b_tail = tail;
    for (Index j = 0; j < p.n; j += dot_columns) {
      o.columns = smaller(p.n - j, dot_columns);
      for (Index i = 0; i < dot_columns; ++i) {
        // Missing columns repeat the last one.
        o.b[i] = p.b + (j + smaller(i, o.columns - 1)) * p.ldb + l0;
        for (Index l = whole; l < k; ++l) tail[i * lanes + l - whole] = o.b[i][l];
        for (Index l = k; l < whole + lanes; ++l) tail[i * lanes + l - whole] = 0;
      }
      o.a = space;
      o.next_b = dot_columns * p.ldb;
      for (Index i0 = 0; i0 < p.m;) {
        const Index height = next_block(p.m - i0, dot_rows);
        o.c = p.c + i0 * p.ldc + j;
        dot_tile_of(height)(o);
        o.a += height * pieces(k, lanes) * lanes;
        o.next_b = 0;
        i0 += height;
      }
    }
  }
}
#endif

}  // namespace assay::blocked::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
