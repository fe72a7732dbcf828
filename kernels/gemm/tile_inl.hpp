// The register tile of the matrix products, compiled once per SIMD target: its size, and the function that
// updates one tile of C. The files that foreach_target.h reads again for each target include it.

#if defined(ASSAY_GEMM_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_GEMM_TILE_INL
#undef ASSAY_GEMM_TILE_INL
#else
#define ASSAY_GEMM_TILE_INL
#endif

#include "gemm/blocked.hpp"

#include <cstddef>
#include <utility>

#include "vectors_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::blocked::HWY_NAMESPACE {

using namespace assay::HWY_NAMESPACE;

constexpr Index line = 16;  // floats in a cache line

// The tile has as many sums as the registers hold beside one row of B and a broadcast of A; two-operand SSE
// needs a register for a product as well. Measured with products of 64 to 768 on a Zen 5: of 14x2, 12x2 and
// 8x3 with AVX-512, and of 6x2, 4x2, 4x3 and 3x3 with SSE4, the tiles below were the fastest or equal to it.
// NEON's 32 registers hold 8x3: not measured.
#if HWY_TARGET == HWY_AVX3
constexpr Index tile_rows = 14, tile_vectors = 2;
#elif HWY_TARGET == HWY_AVX2
constexpr Index tile_rows = 6, tile_vectors = 2;
#elif HWY_TARGET == HWY_NEON
constexpr Index tile_rows = 8, tile_vectors = 3;
#elif HWY_TARGET == HWY_SCALAR
constexpr Index tile_rows = 4, tile_vectors = 4;
#else
constexpr Index tile_rows = 4, tile_vectors = 3;
#endif
constexpr Index tile_columns = tile_vectors * lanes;
// Rows of a tile of one vector. Six sums do not hide the latency of an addition on two units.
constexpr Index narrow_rows = tile_rows < 8 ? 2 * tile_rows : tile_rows;
constexpr Index most_tile_rows(Index vectors) { return vectors == 1 ? narrow_rows : tile_rows; }

template <Index i>
struct At {
  static constexpr Index value = i;
};
template <class Body, std::size_t... i>
HWY_INLINE void each(const Body& body, std::index_sequence<i...>) {
  (body(At<static_cast<Index>(i)>()), ...);
}
// Calls body(At<0>()), …, body(At<count - 1>()). GCC unrolls a loop too, but after it has decided which
// arrays are registers: sums then went through the stack before and after the steps of k.
template <Index count, class Body>
HWY_INLINE void unrolled(const Body& body) {
  each(body, std::make_index_sequence<static_cast<std::size_t>(count)>());
}

template <Index rows, class Of, std::size_t... i>
auto one_of(Index row, Index column, const Of&, std::index_sequence<i...>) {
  constexpr auto at = [](std::size_t k) { return static_cast<Index>(k); };
#if HWY_COMPILER_CLANG
  static const  // Clang 14 instantiates `Of` too late for a constant.
#else
  static constexpr
#endif
      decltype(Of()(At<1>(), At<1>())) table[] = {Of()(At<at(i) % rows + 1>(), At<at(i) / rows + 1>())...};
  return table[(column - 1) * rows + row - 1];
}
// of(At<row>(), At<column>()), a pointer to a function, for numbers known at run time: 1 to `rows` and 1 to
// `columns`.
template <Index rows, Index columns, class Of>
auto one_of(Index row, Index column, const Of& of) {
  return one_of<rows>(row, column, of, std::make_index_sequence<static_cast<std::size_t>(rows * columns)>());
}

// The operands of a tile. It reads a[r * a_row + l * a_step] and the vectors at b[l * b_step].
struct Operands {
  Index k = 0;
  const float* a = nullptr;
  Index a_row = 0, a_step = 0;
  const float* b = nullptr;
  Index b_step = 0;
  float* copy = nullptr;  // a tile that copies puts the vectors of B here, one step after the other
  float* c = nullptr;
  Index ldc = 0;
  Index columns = 0;  // columns of C, at most the tile's
  float alpha = 1, beta = 0;
};

// c[0, N) = alpha sums[0, N) + beta c[0, N) for the N floats of D.
template <class D>
HWY_INLINE void update_floats(D d, const Operands& o, const float* sums, float* c) {
  const auto scaled = hn::Mul(hn::Set(d, o.alpha), hn::LoadU(d, sums));
  hn::StoreU(o.beta == 0 ? scaled : hn::MulAdd(hn::Set(d, o.beta), hn::LoadU(d, c), scaled), d, c);
}

// The same update of C where the last vector has fewer columns.
template <Index rows, Index vectors>
HWY_NOINLINE void update_part(const Operands& o, const float* sums) {
  const Floats d;
  const hn::CappedTag<float, 4> four;
  constexpr Index some = HWY_MIN(lanes, 4);
  for (Index r = 0; r < rows; ++r) {
    float* c = o.c + r * o.ldc;
    const float* from = sums + r * vectors * lanes;
    Index j = 0;
    for (; j + lanes <= o.columns; j += lanes) update_floats(d, o, from + j, c + j);
    for (; j + some <= o.columns; j += some) update_floats(four, o, from + j, c + j);
    for (; j < o.columns; ++j) update_floats(hn::CappedTag<float, 1>(), o, from + j, c + j);
  }
}

// Updates one tile of C. It reads whole vectors of B and touches existing columns of C only.
template <Index rows, Index vectors, bool copies>
void tile(const Operands& o) {
  const Floats d;
  constexpr Index panel_lines = pieces(vectors * lanes, line);
  // Steps of k by which the prefetch of B runs ahead: 16 steps of 14 x 2 sums, and as long where steps are
  // shorter. Where the rows of B collide, a set of the first-level cache holds the lines of eight steps.
  constexpr Index far_ahead = 16 * tile_rows * tile_vectors / (rows * vectors);
  const Index ahead = far_ahead > 8 && rows_collide(o.b_step) ? 8 : far_ahead;
  Vector sums[static_cast<std::size_t>(rows)][static_cast<std::size_t>(vectors)];
  float* next_c = o.c;
  unrolled<rows>([&](auto r) HWY_ATTR {
    unrolled<vectors>([&](auto v) HWY_ATTR { sums[r.value][v.value] = hn::Zero(d); });
    // No lambda: GCC drops a lambda that only prefetches.
    for (Index i = 0; i < panel_lines; ++i) hwy::Prefetch(next_c + i * line);
    next_c += o.ldc;
  });
  // One pointer per four rows: with the distances of one, two and three rows as offsets, few registers
  // address all rows.
  constexpr Index groups = (rows + 3) / 4;
  const float* a[static_cast<std::size_t>(groups)];
  const Index row = o.a_row, three_rows = 3 * o.a_row, a_step = o.a_step, b_step = o.b_step;
  const float* next_a = o.a;
  unrolled<groups>([&](auto g) HWY_ATTR {
    a[g.value] = next_a;
    next_a += 4 * row;
  });
  const float* b = o.b;
  float* copy = o.copy;
  for (Index l = o.k; l > 0; --l) {
    Vector from_b[static_cast<std::size_t>(vectors)];
    unrolled<vectors>([&](auto v) HWY_ATTR { from_b[v.value] = hn::LoadU(d, b + v.value * lanes); });
    unrolled<rows>([&](auto r) HWY_ATTR {
      constexpr Index in_group = r.value % 4;
      const Index offset = in_group == 3 ? three_rows : in_group * row;
      const Vector from_a = hn::Set(d, a[r.value / 4][offset]);
      unrolled<vectors>([&](auto v) HWY_ATTR {
        sums[r.value][v.value] = hn::MulAdd(from_a, from_b[v.value], sums[r.value][v.value]);
      });
    });
    if constexpr (copies) {
      unrolled<vectors>([&](auto v) HWY_ATTR { hn::Store(from_b[v.value], d, copy + v.value * lanes); });
      copy += vectors * lanes;
    }
    unrolled<groups>([&](auto g) HWY_ATTR { a[g.value] += a_step; });
    // A prefetch may name an address past the end of B.
    for (Index i = 0; i < panel_lines; ++i) hwy::Prefetch(b + ahead * b_step + i * line);
    b += b_step;
  }
  float* c = o.c;
  if (o.columns != vectors * lanes) {
    HWY_ALIGN float partial[static_cast<std::size_t>(rows * vectors * lanes)];
    unrolled<rows>([&](auto r) HWY_ATTR {
      unrolled<vectors>([&](auto v) HWY_ATTR {
        hn::Store(sums[r.value][v.value], d, partial + (r.value * vectors + v.value) * lanes);
      });
    });
    update_part<rows, vectors>(o, partial);
  } else if (o.beta == 0) {
    const Vector alpha = hn::Set(d, o.alpha);
    unrolled<rows>([&](auto r) HWY_ATTR {
      unrolled<vectors>([&](auto v) HWY_ATTR {
        hn::StoreU(hn::Mul(alpha, sums[r.value][v.value]), d, c + v.value * lanes);
      });
      c += o.ldc;
    });
  } else {
    const Vector alpha = hn::Set(d, o.alpha), beta = hn::Set(d, o.beta);
    unrolled<rows>([&](auto r) HWY_ATTR {
      unrolled<vectors>([&](auto v) HWY_ATTR {
        const Vector scaled = hn::Mul(beta, hn::LoadU(d, c + v.value * lanes));
        hn::StoreU(hn::MulAdd(alpha, sums[r.value][v.value], scaled), d, c + v.value * lanes);
      });
      c += o.ldc;
    });
  }
}

using Tile = void (*)(const Operands&);

// The tile function of every number of rows, up to most_tile_rows(vectors), and of vectors: an edge of C
// computes no rows that do not exist.
template <bool copies = false>
Tile tile_of(Index rows, Index vectors) {
  return one_of<narrow_rows, tile_vectors>(rows, vectors, [](auto r, auto v) -> Tile {
    return tile<smaller(r.value, most_tile_rows(v.value)), v.value, copies>;
  });
}

}  // namespace assay::blocked::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle
