// The idea: a tile of C sized for the vector registers of each SIMD target. Per step of k, a tile of R rows
// and V vectors loads R + V operands for R V multiply-adds, so that arithmetic, not loads, is the limit.
// Operands are read where they lie, and copied only where their layout defeats the tile or the caches: unlike
// `packed`, which copies always, and pays for it where an operand is reused little.
//
// One source for all SIMD targets; it also feeds the variant `threaded` (see blocked.hpp).

#include "gemm/blocked.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

#include <cstddef>
#include <memory>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/simd.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first, since it chooses the target that highway.h is read for.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace assay::blocked {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

constexpr Index lanes = HWY_LANES(float);
constexpr Index line = 16;  // floats in a cache line

// The tile: as many sums as the registers hold beside one row of B and a broadcast of A (two-operand SSE
// needs a product as well). Of 14x2, 12x2 and 8x3 with AVX-512, and of 6x2, 4x2, 4x3 and 3x3 with SSE4, the
// ones below were the fastest or even with it, products of 64 to 768 on a Zen 5. NEON's 32 registers hold
// 8x3: not measured.
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

// Blocks, measured on a Zen 5 with 48 KiB of first-level and 1 MiB of second-level cache. 512 steps read and
// write C half as often as 256 and were faster, though a panel of B then exceeds the first level: the
// prefetch below covers that. A block of A of 336 rows, 672 KiB, leaves room in the second level for the
// panel it meets.
constexpr Index most_k = 512;
constexpr Index most_rows = 336 / tile_rows * tile_rows;
constexpr Index most_columns = 512 / tile_columns * tile_columns;
// Steps of k that the prefetch of B runs ahead of its use: 16 steps of 14 cycles or more.
constexpr Index ahead = 16;
// Rows of a copied A are this far apart, not a multiple of 4096 bytes (see rows_collide).
constexpr Index a_row_stride = most_k + 16;

Index smaller(Index x, Index y) { return x < y ? x : y; }
Index pieces(Index x, Index unit) { return (x + unit - 1) / unit; }  // rounded up

// The size of the next block when `left` is divided into equal blocks of at most `most`,
// in multiples of `unit`.
Index next_block(Index left, Index most, Index unit) {
  if (left <= most) return left;
  const Index blocks = pieces(left, most);
  return smaller(most, pieces(pieces(left, blocks), unit) * unit);
}

// What a tile reads: a[r * a_row + l * a_step] and the vectors at b[l * b_step].
struct Operands {
  Index k = 0;
  const float* a = nullptr;
  Index a_row = 0, a_step = 0;
  const float* b = nullptr;
  Index b_step = 0;
  float* c = nullptr;
  Index ldc = 0;
  Index columns = 0;  // of C, at most the tile's
  float alpha = 1, beta = 0;
};

// Updates one tile of C. Whole vectors of B are read, only existing columns of C are touched.
template <Index rows, Index vectors>
void tile(const Operands& o) {
  const Floats d;
  Vector sums[static_cast<std::size_t>(rows)][static_cast<std::size_t>(vectors)];
  for (Index r = 0; r < rows; ++r) {
    for (Index v = 0; v < vectors; ++v) sums[r][v] = hn::Zero(d);
    hwy::Prefetch(o.c + r * o.ldc);
    if constexpr (vectors * lanes > line) hwy::Prefetch(o.c + r * o.ldc + line);
  }
  // One pointer per four rows: with the distances of one, two and three rows as offsets, all rows are
  // addressed from few registers.
  constexpr Index groups = (rows + 3) / 4;
  const float* a[static_cast<std::size_t>(groups)];
  for (Index g = 0; g < groups; ++g) a[g] = o.a + 4 * g * o.a_row;
  const Index row = o.a_row, three_rows = 3 * o.a_row, a_step = o.a_step;
  const float* b = o.b;
  for (Index l = 0; l < o.k; ++l) {
    Vector from_b[static_cast<std::size_t>(vectors)];
    for (Index v = 0; v < vectors; ++v) from_b[v] = hn::LoadU(d, b + v * lanes);
    for (Index r = 0; r < rows; ++r) {
      const Index offset = r % 4 == 3 ? three_rows : r % 4 * row;
      const Vector from_a = hn::Set(d, a[r / 4][offset]);
      for (Index v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(from_a, from_b[v], sums[r][v]);
    }
    for (Index g = 0; g < groups; ++g) a[g] += a_step;
    // Past the end of B it names no operand, which a prefetch may.
    hwy::Prefetch(b + ahead * o.b_step);
    if constexpr (tile_columns > line) hwy::Prefetch(b + ahead * o.b_step + line);
    b += o.b_step;
  }
  const Vector alpha = hn::Set(d, o.alpha), beta = hn::Set(d, o.beta);
  if (o.columns == vectors * lanes) {
    float* c = o.c;
    if (o.beta == 0) {
      for (Index r = 0; r < rows; ++r, c += o.ldc) {
        for (Index v = 0; v < vectors; ++v) hn::StoreU(hn::Mul(alpha, sums[r][v]), d, c + v * lanes);
      }
    } else {
      for (Index r = 0; r < rows; ++r, c += o.ldc) {
        for (Index v = 0; v < vectors; ++v) {
          const Vector scaled = hn::Mul(beta, hn::LoadU(d, c + v * lanes));
          hn::StoreU(hn::MulAdd(alpha, sums[r][v], scaled), d, c + v * lanes);
        }
      }
    }
    return;
  }
  HWY_ALIGN float partial[static_cast<std::size_t>(rows * vectors * lanes)];
  for (Index r = 0; r < rows; ++r) {
    for (Index v = 0; v < vectors; ++v) {
      hn::Store(hn::Mul(alpha, sums[r][v]), d, partial + (r * vectors + v) * lanes);
    }
  }
  for (Index r = 0; r < rows; ++r) {
    float* c = o.c + r * o.ldc;
    const float* from = partial + r * vectors * lanes;
    for (Index j = 0; j < o.columns; ++j) c[j] = o.beta == 0 ? from[j] : o.beta * c[j] + from[j];
  }
}

using Tile = void (*)(const Operands&);

// The tile function of every number of rows and vectors, so that no edge of C computes rows it has not got.
template <std::size_t... i>
Tile tile_of(Index rows, Index vectors, std::index_sequence<i...>) {
  static constexpr Tile table[] = {
      tile<static_cast<Index>(i) % tile_rows + 1, static_cast<Index>(i) / tile_rows + 1>...};
  return table[(vectors - 1) * tile_rows + rows - 1];
}
Tile tile_of(Index rows, Index vectors) {
  return tile_of(rows, vectors,
                 std::make_index_sequence<static_cast<std::size_t>(tile_rows * tile_vectors)>());
}

void copy(const float* from, Index count, float* to) {
  const Floats d;
  Index i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  for (; i < count; ++i) to[i] = from[i];
}

// Rows of B cut into panels as wide as a tile: to[j0 * k + l * width + j] = from[l * ldb + j0 + j] for the
// panel at j0, whose width is filled up to whole vectors with zeros. Eight rows of all panels at a time, so
// that the rows are read in the order in which they lie.
void pack_rows(const float* from, Index ldb, Index k, Index columns, float* to) {
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
        for (Index j = filled; j < width; ++j) packed[j] = j < panel ? row[j] : 0;
      }
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
// Four floats from each of width / 4 places that are `stride` floats apart.
template <Index width>
hn::Vec<hn::FixedTag<float, width>> fours(const float* from, Index stride) {
  const hn::FixedTag<float, width> d;
  if constexpr (width == 4) {
    return hn::LoadU(d, from);
  } else {
    return hn::Combine(d, fours<width / 2>(from + width / 8 * stride, stride),
                       fours<width / 2>(from, stride));
  }
}

// Four steps of k of a vector of columns of a transposed B. Each 128-bit block of `row` holds four steps of
// one column; the blocks are four columns apart, so that transposing inside the blocks puts all in order.
void transpose_four(const float* from, Index ldb, Index width, float* to) {
  const Floats d;
  const hn::Repartition<double, Floats> d64;
  const Vector x0 = fours<lanes>(from, 4 * ldb), x1 = fours<lanes>(from + ldb, 4 * ldb);
  const Vector x2 = fours<lanes>(from + 2 * ldb, 4 * ldb), x3 = fours<lanes>(from + 3 * ldb, 4 * ldb);
  const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, x0, x1));
  const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, x2, x3));
  const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, x0, x1));
  const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, x2, x3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)), d, to + width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)), d, to + 2 * width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23)), d, to + 3 * width);
}
#endif

// The same panels from columns of a transposed B: to[j0 * k + l * width + j] = from[(j0 + j) * ldb + l].
void pack_columns(const float* from, Index ldb, Index k, Index columns, float* to) {
  for (Index j = 0; j < columns; j += lanes) {
    const Index j0 = j / tile_columns * tile_columns;
    const Index width = pieces(smaller(columns - j0, tile_columns), lanes) * lanes;
    float* packed = to + j0 * k + j - j0;
    Index l = 0;
#if HWY_TARGET != HWY_SCALAR
    if (j + lanes <= columns) {
      for (; l + 4 <= k; l += 4) transpose_four(from + j * ldb + l, ldb, width, packed + l * width);
    }
#endif
    for (; l < k; ++l) {
      for (Index i = 0; i < lanes; ++i) {
        packed[l * width + i] = j + i < columns ? from[(j + i) * ldb + l] : 0;
      }
    }
  }
}

void pack_b(const Product& p, Index l0, Index k, Index j0, Index columns, float* to) {
  if (p.b_transposed) {
    pack_columns(p.b + j0 * p.ldb + l0, p.ldb, k, columns, to);
  } else {
    pack_rows(p.b + l0 * p.ldb + j0, p.ldb, k, columns, to);
  }
}

void pack_a(const Product& p, Index i0, Index rows, Index l0, Index k, float* to) {
  if (p.a_transposed) {
    for (Index l = 0; l < k; ++l) copy(p.a + (l0 + l) * p.lda + i0, rows, to + l * most_rows);
  } else {
    for (Index i = 0; i < rows; ++i) copy(p.a + (i0 + i) * p.lda + l0, k, to + i * a_row_stride);
  }
}

// Rows a multiple of 4096 bytes apart fall into the same few sets of the caches and push each other out.
bool rows_collide(Index distance) { return distance % 1024 == 0; }

// Copying A pays only when many columns of C reuse it. A transposed A is copied then, since its rows, 14
// floats of which make a step of a tile, are not read in the order in which they lie.
bool reads_a_in_place(const Product& p) { return p.n <= 128 || (!p.a_transposed && !rows_collide(p.lda)); }

// A transposed B has to be turned. Up to two tiles of rows are too few to make up for a copy.
bool reads_b_in_place(const Product& p) {
  return !p.b_transposed && (p.m <= 2 * tile_rows || !rows_collide(p.ldb));
}

Index a_space(const Product& p) {
  if (reads_a_in_place(p)) return 0;
  const Index k = smaller(p.k, most_k), rows = smaller(p.m, most_rows);
  return pieces(p.a_transposed ? k * most_rows : rows * a_row_stride, line) * line;
}

Index space_floats(const Product& p) {
  const Index columns = reads_b_in_place(p) ? tile_columns : most_columns;
  return a_space(p) + smaller(p.k, most_k) * smaller(pieces(p.n, lanes) * lanes, columns);
}

// One block of A against the panels of one block of B, which is read at `b_in_place` unless that is null.
void multiply_block(const Product& p, const float* a, Operands o, Index i0, Index rows, Index j0,
                    Index columns, const float* packed_b, const float* b_in_place) {
  for (Index j = 0; j < columns; j += tile_columns) {
    o.columns = smaller(columns - j, tile_columns);
    const Index vectors = pieces(o.columns, lanes);
    if (b_in_place != nullptr && o.columns % lanes == 0) {
      o.b = b_in_place + j;
      o.b_step = p.ldb;
    } else {
      o.b = b_in_place != nullptr ? packed_b : packed_b + j * o.k;
      o.b_step = vectors * lanes;
    }
    for (Index i = 0; i < rows;) {
      const Index height = next_block(rows - i, tile_rows, 1);
      o.a = a + i * o.a_row;
      o.c = p.c + (i0 + i) * p.ldc + j0 + j;
      tile_of(height, vectors)(o);
      i += height;
    }
  }
}

void multiply(const Product& p, float* space) {
  float* const a = space;
  float* const b = space + a_space(p);
  const bool a_in_place = reads_a_in_place(p), b_in_place = reads_b_in_place(p);
  Operands o{.ldc = p.ldc, .alpha = p.alpha};
  for (Index j0 = 0; j0 < p.n;) {
    const Index columns = next_block(p.n - j0, most_columns, tile_columns);
    for (Index l0 = 0; l0 < p.k;) {
      o.k = next_block(p.k - l0, most_k, 4);
      o.beta = l0 == 0 ? p.beta : 1;
      // In place, the panel of a last partial vector is copied all the same: vectors are read whole.
      const Index in_place = !b_in_place            ? 0
                             : columns % lanes == 0 ? columns
                                                    : columns / tile_columns * tile_columns;
      pack_b(p, l0, o.k, j0 + in_place, columns - in_place, b);
      for (Index i0 = 0; i0 < p.m;) {
        const Index rows = next_block(p.m - i0, most_rows, tile_rows);
        const float* block = a;
        if (a_in_place) {
          o.a_row = p.a_transposed ? 1 : p.lda;
          o.a_step = p.a_transposed ? p.lda : 1;
          block = p.a + i0 * o.a_row + l0 * o.a_step;
        } else {
          o.a_row = p.a_transposed ? 1 : a_row_stride;
          o.a_step = p.a_transposed ? most_rows : 1;
          pack_a(p, i0, rows, l0, o.k, a);
        }
        multiply_block(p, block, o, i0, rows, j0, columns, b, b_in_place ? p.b + l0 * p.ldb + j0 : nullptr);
        i0 += rows;
      }
      l0 += o.k;
    }
    j0 += columns;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::blocked
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace blocked {

HWY_EXPORT(multiply);
HWY_EXPORT(space_floats);

std::vector<Tier> tiers() {
  std::vector<Tier> all;
  for_each_tier(HWY_DISPATCH_TABLE(multiply),
                [&](const std::string& name, auto* multiply, const auto& unfit) {
                  all.push_back({.name = name, .unfit = unfit, .multiply = multiply});
                });
  auto tier = all.begin();
  for_each_tier(HWY_DISPATCH_TABLE(space_floats),
                [&](const auto&, auto* space_floats, const auto&) { (tier++)->space_floats = space_floats; });
  return all;
}

}  // namespace blocked

namespace {

const Register registered{[](Registry& r) {
  for (const blocked::Tier& tier : blocked::tiers()) {
    r.add<Gemm>({.name = "simd@" + tier.name,
                 .summary = "register tile over copied panels, compiled for " + tier.name,
                 .prepare =
                     [tier](const Gemm::Problem& p, const Gemm::Input& in, const Context&) {
                       const auto space = std::make_shared<Buffer<float>>(
                           tier.space_floats(blocked::part_of(p, in, nullptr, 0, p.m, 0, p.n)));
                       return [tier, p, space](const Gemm::Input& now, Gemm::Output& out) {
                         tier.multiply(blocked::part_of(p, now, out.c.data(), 0, p.m, 0, p.n), space->data());
                       };
                     },
                 .unfit = [unfit = tier.unfit](const Gemm::Problem&, const Context&) { return unfit; }});
  }
}};

}  // namespace
}  // namespace assay
#endif
