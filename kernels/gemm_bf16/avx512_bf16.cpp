// The idea: VDPBF16PS multiplies two neighbouring terms of 16 columns at once and adds both to 16 sums, twice
// the work of an f32 FMA. It needs pairs along k side by side. Rows of A hold such pairs, as do the columns
// of a transposed B; other operands are interleaved while they are copied into panels. Otherwise this is the
// register tile of `gemm`, with pairs in place of numbers, and its blocks.
//
// Highway 1.0.3 has no target with this instruction, hence intrinsics.

#include "gemm_bf16/blocked.hpp"

#include "blocks.hpp"

#include "hwy/base.h"

#if HWY_ARCH_X86 && (HWY_COMPILER_GCC_ACTUAL >= 1000 || HWY_COMPILER_CLANG >= 1100)

#include <cstddef>
#include <cstring>
#include <utility>

#include <immintrin.h>

#if HWY_COMPILER_GCC_ACTUAL
// GCC 12 takes the undefined value that its own intrinsics start from for a mistake (GCC bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")

namespace assay::gemm_bf16 {
namespace {

constexpr Index lanes = 16;
constexpr Index tile_rows = 14, tile_vectors = 2;
constexpr Index tile_columns = tile_vectors * lanes;

// The blocks of gemm/simd.cpp, counted in pairs: the same bytes.
constexpr Index most_pairs = 512;
constexpr Index most_rows = 336;
constexpr Index most_columns = 512;
// The distance of rows of a copied A in pairs, not a multiple of 4096 bytes.
constexpr Index a_row_stride = most_pairs + 16;

template <Index i>
struct At {
  static constexpr Index value = i;
};
template <class Body, std::size_t... i>
HWY_INLINE void each(const Body& body, std::index_sequence<i...>) {
  (body(At<static_cast<Index>(i)>()), ...);
}
// As in gemm/tile_inl.hpp, for the same reason. It is repeated since its code must have the target of this
// file.
template <Index count, class Body>
HWY_INLINE void unrolled(const Body& body) {
  each(body, std::make_index_sequence<static_cast<std::size_t>(count)>());
}

// A pair in memory is two bf16 and may start at any even address, so pairs are read and written as bytes.
HWY_INLINE __m512i pair_everywhere(const std::uint16_t* from) {
  int pair;
  std::memcpy(&pair, from, sizeof pair);
  return _mm512_set1_epi32(pair);
}

// The operands of a tile in bf16. It reads pairs at a[r * a_row + l * a_step] and vectors of pairs at b[l *
// b_step].
struct Operands {
  Index pairs = 0;
  const std::uint16_t* a = nullptr;
  Index a_row = 0, a_step = 0;
  const std::uint16_t* b = nullptr;
  Index b_step = 0;
  float* c = nullptr;
  Index ldc = 0;
  Index columns = 0;
  bool add = false;  // adds to C
};

template <Index rows, Index vectors>
void tile(const Operands& o) {
  constexpr Index ahead = 16 * tile_rows * tile_vectors / (rows * vectors);
  __m512 sums[static_cast<std::size_t>(rows)][static_cast<std::size_t>(vectors)];
  float* c = o.c;
  unrolled<rows>(
      [&](auto r) { unrolled<vectors>([&](auto v) { sums[r.value][v.value] = _mm512_setzero_ps(); }); });
  constexpr Index groups = (rows + 3) / 4;
  const std::uint16_t* a[static_cast<std::size_t>(groups)];
  const Index row = o.a_row, three_rows = 3 * row, a_step = o.a_step, b_step = o.b_step;
  const std::uint16_t* next_a = o.a;
  unrolled<groups>([&](auto g) {
    a[g.value] = next_a;
    next_a += 4 * row;
  });
  const std::uint16_t* b = o.b;
  for (Index l = o.pairs; l > 0; --l) {
    __m512i from_b[static_cast<std::size_t>(vectors)];
    unrolled<vectors>([&](auto v) { from_b[v.value] = _mm512_loadu_si512(b + v.value * 2 * lanes); });
    unrolled<rows>([&](auto r) {
      constexpr Index in_group = r.value % 4;
      const Index offset = in_group == 3 ? three_rows : in_group * row;
      const __m512i from_a = pair_everywhere(a[r.value / 4] + offset);
      unrolled<vectors>([&](auto v) {
        sums[r.value][v.value] = _mm512_dpbf16_ps(sums[r.value][v.value], reinterpret_cast<__m512bh>(from_a),
                                                  reinterpret_cast<__m512bh>(from_b[v.value]));
      });
    });
    unrolled<groups>([&](auto g) { a[g.value] += a_step; });
    for (Index v = 0; v < vectors; ++v) {
      _mm_prefetch(reinterpret_cast<const char*>(b + ahead * b_step + v * 2 * lanes), _MM_HINT_T0);
    }
    b += b_step;
  }
  const __mmask16 last = static_cast<__mmask16>((1U << (o.columns - (vectors - 1) * lanes)) - 1);
  unrolled<rows>([&](auto r) {
    unrolled<vectors>([&](auto v) {
      const __mmask16 mask = v.value == vectors - 1 ? last : static_cast<__mmask16>(0xffff);
      __m512 value = sums[r.value][v.value];
      if (o.add) value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, c + v.value * lanes));
      _mm512_mask_storeu_ps(c + v.value * lanes, mask, value);
    });
    c += o.ldc;
  });
}

using Tile = void (*)(const Operands&);
template <std::size_t... i>
Tile tile_of(Index rows, Index vectors, std::index_sequence<i...>) {
  static constexpr Tile table[] = {
      tile<static_cast<Index>(i) % tile_rows + 1, static_cast<Index>(i) / tile_rows + 1>...};
  return table[(vectors - 1) * tile_rows + rows - 1];
}

// Interleaves two rows of `count` elements: to[2 j] = first[j], to[2 j + 1] = second[j]. A null `second`
// stands for zeros.
void interleave(const std::uint16_t* first, const std::uint16_t* second, Index count, std::uint16_t* to) {
  alignas(64) static constexpr std::uint16_t order[] = {0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,
                                                        37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
                                                        11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
  const __m512i low = _mm512_load_si512(order);
  const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
  for (Index j = 0; j < count; j += 32) {
    const Index left = smaller(count - j, 32);
    const __mmask32 mask = static_cast<__mmask32>(left == 32 ? 0xffffffffU : (1U << left) - 1);
    const __m512i x = _mm512_maskz_loadu_epi16(mask, first + j);
    const __m512i y = second == nullptr ? _mm512_setzero_si512() : _mm512_maskz_loadu_epi16(mask, second + j);
    _mm512_storeu_si512(to + 2 * j, _mm512_permutex2var_epi16(x, low, y));
    if (left > 16) _mm512_storeu_si512(to + 2 * j + 32, _mm512_permutex2var_epi16(x, high, y));
  }
}

// Copies columns of a plain B: to[panel][l][column] of pairs, padded to whole vectors with zeros.
void pack_rows(const std::uint16_t* from, Index ldb, Index k, Index columns, std::uint16_t* to) {
  const Index pairs = pieces(k, 2);
  for (Index l = 0; l < pairs; ++l) {
    const std::uint16_t* first = from + 2 * l * ldb;
    const std::uint16_t* second = 2 * l + 1 < k ? first + ldb : nullptr;
    for (Index j = 0; j < columns; j += tile_columns) {
      const Index panel = smaller(columns - j, tile_columns), width = pieces(panel, lanes) * lanes;
      interleave(first + j, second == nullptr ? nullptr : second + j, panel,
                 to + 2 * (j * pairs + l * width));
    }
  }
}

HWY_INLINE __m512i four_blocks(const std::uint16_t* from, Index distance) {
  const auto block = [&](Index i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * distance));
  };
  const __m512i two = _mm512_inserti32x4(_mm512_castsi128_si512(block(0)), block(1), 1);
  return _mm512_inserti32x4(_mm512_inserti32x4(two, block(2), 2), block(3), 3);
}

// Copies columns of a transposed B, which hold pairs already, as transpose_four() in vectors_inl.hpp.
void pack_columns(const std::uint16_t* from, Index ldb, Index k, Index columns, std::uint16_t* to) {
  const Index pairs = pieces(k, 2);
  for (Index j = 0; j < columns; j += lanes) {
    const Index j0 = j / tile_columns * tile_columns;
    const Index width = pieces(smaller(columns - j0, tile_columns), lanes) * lanes;
    std::uint16_t* packed = to + 2 * (j0 * pairs + j - j0);
    Index l = 0;
    if (j + lanes <= columns) {
      for (; 2 * l + 8 <= k; l += 4) {
        const std::uint16_t* at = from + j * ldb + 2 * l;
        const __m512i x0 = four_blocks(at, 4 * ldb), x1 = four_blocks(at + ldb, 4 * ldb);
        const __m512i x2 = four_blocks(at + 2 * ldb, 4 * ldb), x3 = four_blocks(at + 3 * ldb, 4 * ldb);
        const __m512i low01 = _mm512_unpacklo_epi32(x0, x1), low23 = _mm512_unpacklo_epi32(x2, x3);
        const __m512i high01 = _mm512_unpackhi_epi32(x0, x1), high23 = _mm512_unpackhi_epi32(x2, x3);
        std::uint16_t* out = packed + 2 * l * width;
        _mm512_storeu_si512(out, _mm512_unpacklo_epi64(low01, low23));
        _mm512_storeu_si512(out + 2 * width, _mm512_unpackhi_epi64(low01, low23));
        _mm512_storeu_si512(out + 4 * width, _mm512_unpacklo_epi64(high01, high23));
        _mm512_storeu_si512(out + 6 * width, _mm512_unpackhi_epi64(high01, high23));
      }
    }
    for (; l < pairs; ++l) {
      for (Index i = 0; i < lanes; ++i) {
        const std::uint16_t* column = from + (j + i) * ldb;
        std::uint16_t* pair = packed + 2 * (l * width + i);
        pair[0] = j + i < columns ? column[2 * l] : std::uint16_t{0};
        pair[1] = j + i < columns && 2 * l + 1 < k ? column[2 * l + 1] : std::uint16_t{0};
      }
    }
  }
}

// A is copied if k is odd, since the last pair of a row reaches into the next row; if it is transposed, since
// its pairs have to be made; and if its rows fall into few sets of the caches.
bool reads_a_in_place(const Product& p) { return !p.a_transposed && p.k % 2 == 0 && p.lda % 2048 != 0; }

void pack_a(const Product& p, Index i0, Index rows, Index l0, Index k, std::uint16_t* to) {
  if (p.a_transposed) {
    for (Index l = 0; l < k; l += 2) {
      const std::uint16_t* first = p.a + (l0 + l) * p.lda + i0;
      interleave(first, l + 1 < k ? first + p.lda : nullptr, rows, to + l * most_rows);
    }
    return;
  }
  for (Index i = 0; i < rows; ++i) {
    std::uint16_t* row = to + 2 * i * a_row_stride;
    std::memcpy(row, p.a + (i0 + i) * p.lda + l0, static_cast<std::size_t>(k) * sizeof *row);
    if (k % 2 == 1) row[k] = 0;
  }
}

// Counts floats; each has room for a pair.
Index a_space(const Product& p) {
  if (reads_a_in_place(p)) return 0;
  const Index pairs = smaller(pieces(p.k, 2), most_pairs);
  // An interleaved row is written in whole vectors.
  return p.a_transposed ? pairs * most_rows + 32
                        : pieces(smaller(p.m, most_rows) * a_row_stride, lanes) * lanes;
}

Index space_floats(const Product& p) {
  return a_space(p) + smaller(pieces(p.k, 2), most_pairs) * smaller(pieces(p.n, lanes) * lanes, most_columns);
}

void multiply(const Product& p, float* space) {
  // The space of floats holds bf16.
  std::uint16_t* const a = reinterpret_cast<std::uint16_t*>(space);
  std::uint16_t* const b = reinterpret_cast<std::uint16_t*>(space + a_space(p));
  const bool a_in_place = reads_a_in_place(p);
  Operands o{.ldc = p.ldc};
  for (Index j0 = 0; j0 < p.n;) {
    const Index columns = next_block(p.n - j0, most_columns, tile_columns);
    for (Index l0 = 0; l0 < p.k;) {
      const Index k = next_block(p.k - l0, 2 * most_pairs, 8);
      o.pairs = pieces(k, 2);
      o.add = l0 > 0;
      if (p.b_transposed) {
        pack_columns(p.b + j0 * p.ldb + l0, p.ldb, k, columns, b);
      } else {
        pack_rows(p.b + l0 * p.ldb + j0, p.ldb, k, columns, b);
      }
      for (Index i0 = 0; i0 < p.m;) {
        const Index rows = next_block(p.m - i0, most_rows, tile_rows);
        if (!a_in_place) pack_a(p, i0, rows, l0, k, a);
        const std::uint16_t* const block = a_in_place ? p.a + i0 * p.lda + l0 : a;
        o.a_row = a_in_place ? p.lda : p.a_transposed ? 2 : 2 * a_row_stride;
        o.a_step = p.a_transposed ? 2 * most_rows : 2;
        for (Index j = 0; j < columns; j += tile_columns) {
          o.columns = smaller(columns - j, tile_columns);
          const Index vectors = pieces(o.columns, lanes);
          o.b = b + 2 * j * o.pairs;
          o.b_step = 2 * vectors * lanes;
          for (Index i = 0; i < rows;) {
            const Index height = next_block(rows - i, tile_rows, 1);
            o.a = block + i * o.a_row;
            o.c = p.c + (i0 + i) * p.ldc + j0 + j;
            tile_of(height, vectors,
                    std::make_index_sequence<static_cast<std::size_t>(tile_rows * tile_vectors)>())(o);
            i += height;
          }
        }
        i0 += rows;
      }
      l0 += k;
    }
    j0 += columns;
  }
}

}  // namespace
}  // namespace assay::gemm_bf16

HWY_POP_ATTRIBUTES

#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC diagnostic pop
#endif

namespace assay::gemm_bf16 {

std::optional<Tier> avx512_bf16() {
  Tier tier{.name = "avx512_bf16", .unfit = {}, .multiply = multiply, .space_floats = space_floats};
  if (!__builtin_cpu_supports("avx512bf16")) tier.unfit = "needs a processor with avx512_bf16";
  return tier;
}

}  // namespace assay::gemm_bf16

#else

namespace assay::gemm_bf16 {

std::optional<Tier> avx512_bf16() { return std::nullopt; }

}  // namespace assay::gemm_bf16

#endif
