// The idea: a tile of C sized for the vector registers of each SIMD target. Per step of k, a tile of R rows
// and V vectors loads R + V operands for R V multiply-adds, so arithmetic is the limit, not loads. Operands
// are copied only where their layout defeats the tile or the caches. `packed` copies always, which costs time
// where an operand is reused little.

#include "gemm/products.hpp"

#include "assay/caches.hpp"

#define HWY_TARGET_INCLUDE "gemm/simd.cpp"
#include "vectors_inl.hpp"

#include "gemm/dots_inl.hpp"
#include "gemm/panels_inl.hpp"
#include "gemm/tile_inl.hpp"
#include "gemm/vector_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::blocked::HWY_NAMESPACE {

// The product without blocks: tile after tile over operands where they lie. It is for products that the
// caches hold whole: deciding what to copy would cost more than copying saves.

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

// C^T = op(B)^T op(A)^T in place of C = op(A) op(B). A tile reads one operand row by row along k and the
// other column by column. A product with a transposed B would have to transpose all of B; one with a
// transposed A would have to cut all of A into slices. As a transpose, each is read where it lies. The
// smaller operand and the result are copied or transposed instead (is_better_turned).

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
  Product out = product({moved(p.b, p.b_transposed ? first * p.ldb : first), p.ldb, !p.b_transposed},
                        {p.a, p.lda, !p.a_transposed}, c, turned_distance(p), rows, p.m, p.k, p.alpha);
  out.filled_rows = true;
  return out;
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
        transpose_four(Floats(), from + j * distance + i, distance, to + i * to_distance + j, to_distance);
      }
    }
#endif
    for (; i < rows; ++i) {
      for (Index j = j0; j < j_end; ++j) to[i * to_distance + j] = from[j * distance + i];
    }
  }
}

// Steps of k in a block. 512 write C half as often as 256. A panel of B takes 32 KiB with AVX2 and 64 KiB
// with AVX-512, about a first-level cache of 48 KiB or more; the prefetch in the tile covers that. On a Zen
// 5, 256 and 384 steps were as fast or up to 3 % slower with either, squares of 256 to 2048.
constexpr Index most_k = 512;
// Columns of a transposed B that are transposed at a time if several blocks of A meet them, or C is walked
// along its rows. Otherwise a panel at a time meets A while it is in the first caches: 197 x 3072 x 768 took
// 0.95 of the time on a Zen 4.
constexpr Index most_columns = 512 / tile_columns * tile_columns;
// The distance of rows of a copied A, not a multiple of 4096 bytes (rows_collide).
constexpr Index a_row_stride = most_k + 16;

// Rows of A in a block: they take two thirds of the second-level cache. Panels of B and C pass through the
// rest.
Index most_rows() {
  const auto rows =
      static_cast<Index>(caches().second * 2 / 3) / (most_k * static_cast<Index>(sizeof(float)));
  return smaller(rows < tile_rows ? 1 : rows / tile_rows, 504 / tile_rows) * tile_rows;
}

// As that of blocks.hpp. Through a constexpr function GCC 12 makes other code of the blocks.
Index next_block(Index left, Index most, Index unit) {
  if (left <= most) return left;
  const Index blocks = pieces(left, most);
  return smaller(most, pieces(pieces(left, blocks), unit) * unit);
}

void pack_b(const Product& p, Index l0, Index k, Index j0, Index columns, float* to) {
  if (p.b_transposed) {
    pack_columns(p.b + j0 * p.ldb + l0, p.ldb, k, columns, to);
  } else {
    pack_rows(p.b + l0 * p.ldb + j0, p.ldb, k, columns, to);
  }
}

// Copies a transposed A in slices of tile_rows rows or fewer, as `multiply_block` divides a block into tiles.
// The slice from row i on lies at to + i * k and has one step after the other. Copies some steps of all
// slices at a time, so that rows are read in memory order. `readable` is how many numbers of a row may be
// read. Copies whole vectors if later steps of the slice overwrite the surplus lanes.
void pack_slices(const float* from, Index lda, Index k, Index rows, Index readable, float* to) {
  constexpr Index together = 32;
  const Floats d;
  for (Index l0 = 0; l0 < k; l0 += together) {
    const Index l_end = smaller(k, l0 + together);
    for (Index i = 0; i < rows;) {
      const Index height = next_block(rows - i, tile_rows, 1), whole = pieces(height, lanes) * lanes;
      const Index l_whole = i + whole <= readable ? smaller(l_end, k - whole) : l0;
      const float* row = from + l0 * lda + i;
      float* slice = to + i * k + l0 * height;
      Index l = l0;
      for (; l < l_whole; ++l, row += lda, slice += height) {
        for (Index r = 0; r < whole; r += lanes) hn::StoreU(hn::LoadU(d, row + r), d, slice + r);
      }
      for (; l < l_end; ++l, row += lda, slice += height) {
        for (Index r = 0; r < height; ++r) slice[r] = row[r];
      }
      i += height;
    }
  }
}

void pack_a(const Product& p, Index i0, Index rows, Index l0, Index k, float* to) {
  if (p.a_transposed) {
    pack_slices(p.a + l0 * p.lda + i0, p.lda, k, rows, p.m - i0, to);
  } else {
    for (Index i = 0; i < rows; ++i) copy(p.a + (i0 + i) * p.lda + l0, k, to + i * a_row_stride);
  }
}

// Copying A pays only if many columns of C reuse it. A transposed A is copied then, since each step of a tile
// is a line of its own. Rows that collide and outnumber the eight ways of a first-level cache are copied from
// two panels on: 128 x 1000 x 2048 took 0.9 of the time on a Zen 4 with AVX-512. With few columns copying
// pays if lines of a transposed A evict each other before neighbouring tiles have used the rest of them: 4096
// x 16 x 1024, whose rows are 16 KiB apart, took 0.71 of the time on a Zen 3 with 512 KiB of second-level
// cache, and 1.19 times the time on an Intel Xeon with 2 MiB.
bool reads_a_in_place(const Product& p) {
  if (!p.a_transposed) return p.n <= (tile_rows > 8 ? tile_columns : 128) || !rows_collide(p.lda);
  const double row = static_cast<double>(p.lda) * sizeof(float);
  return p.n <= 128 && (!rows_collide(p.lda) || caches().second / row >= 64);
}

// Whether C is walked along its rows: with few steps, fetching a tile of C takes longer than computing it,
// and the processor fetches lines of a row ahead, unlike those of a column of tiles.
bool walks_rows(const Product& p) { return p.k <= 64 && p.n > tile_columns; }

// Whether the copies of panels of B are kept for further blocks of A. In B itself their lines are ldb apart,
// each on a page of its own.
bool keeps_panels(const Product& p) { return !p.b_transposed && p.m > most_rows(); }

// Whether panels of B are copied before they are multiplied. Otherwise a tile reads B where it lies and
// copies what it reads for the other tiles. Where rows are few, collide and come from far away, that tile
// waits for lines that are neither fetched ahead nor stay in the cache. On a Zen 3 with 32 MiB of last-level
// cache, 5 x 2048 x 2048 took 0.55 of the time with the copies and 16 x 4096 x 1024 took 0.6; 24 x 4096 x
// 256, whose B is 4 MiB, took 1.2 times the time, as did rows that do not collide.
bool packs_b(const Product& p) {
  if (p.b_transposed) return true;
  const double bytes = static_cast<double>(p.k) * static_cast<double>(p.ldb) * sizeof(float);
  return rows_collide(p.ldb) && p.m <= 4 * tile_rows && p.n > 2 * tile_columns && bytes >= caches().last / 4;
}

// Columns of B that are multiplied at a time: half a second-level cache where C is walked along rows or
// panels are copied before, a quarter of the last-level cache where the copies are kept.
Index together(const Product& p) {
  if (p.b_transposed) return p.m > most_rows() || walks_rows(p) ? most_columns : tile_columns;
  const auto columns_of = [&](double bytes, Index k) {
    const auto floats = static_cast<Index>(bytes) / static_cast<Index>(sizeof(float));
    return smaller(pieces(floats / k, tile_columns), pieces(p.n, tile_columns)) * tile_columns;
  };
  if (packs_b(p)) return columns_of(caches().second / 2, smaller(p.k, most_k));
  if (!walks_rows(p)) {
    if (!keeps_panels(p)) return pieces(p.n, tile_columns) * tile_columns;
    return columns_of(caches().last / 4, smaller(p.k, most_k));
  }
  return columns_of(caches().second / 2, p.k);
}

Index a_space(const Product& p) {
  if (reads_a_in_place(p)) return 0;
  const Index k = smaller(p.k, most_k), rows = smaller(p.m, most_rows());
  return pieces(rows * (p.a_transposed ? k : a_row_stride), line) * line;
}

Index space_as_it_is(const Product& p) {
  // Space for B: if it is transposed, the panels of a block; otherwise the last panel, where partial, and the
  // panels in use.
  const Index block = smaller(pieces(p.n, lanes) * lanes, together(p));
  const bool keeps = walks_rows(p) || keeps_panels(p);
  const Index columns = packs_b(p) ? block : tile_columns + (keeps ? block : tile_columns);
  return a_space(p) + smaller(p.k, most_k) * columns;
}

Index space_floats(const Product& p) {
  if (is_vector_product(p)) return 0;
  if (multiplies_by_dots(p)) return dots_space(p);
  const Index as_it_is = space_as_it_is(p);
  if (!is_better_turned(p, lanes)) return as_it_is;
  // The larger of both: with beta the product is not transposed, and space is for any beta.
  const Product transpose = turned(p, 0, turned_rows(p), nullptr);
  const Index as_turned = transpose.m * transpose.ldc + space_floats(transpose);
  return as_turned > as_it_is ? as_turned : as_it_is;
}

// Multiplies one block of A with the panels of one block of B, which is read at `b_in_place` unless that is
// null. The lines of panels there are ldb apart and may share few sets of the caches. The first tile that
// reads a panel copies it to `panels` for the others: a store for each load among the multiply-adds costs
// less than a pass of its own.
void multiply_block(const Product& p, const float* a, Operands o, Index i0, Index rows, Index j0,
                    Index columns, const float* packed_b, const float* b_in_place, float* panels) {
  const bool by_rows = walks_rows(p), slices = p.a_transposed && !reads_a_in_place(p);
  const bool kept = by_rows || keeps_panels(p);
  const bool worth_a_copy = keeps_panels(p) || rows > (rows_collide(p.ldb) ? 1 : 10) * tile_rows;
  const auto update = [&](Index i, Index height, Index j) HWY_ATTR {
    o.columns = smaller(columns - j, tile_columns);
    const Index vectors = pieces(o.columns, lanes);
    if (slices) {
      o.a = a + i * o.k;
      o.a_step = height;
    } else {
      o.a = a + i * o.a_row;
    }
    o.c = p.c + (i0 + i) * p.ldc + j0 + j;
    o.b_step = vectors * lanes;
    if (b_in_place == nullptr) {
      o.b = packed_b + j * o.k;
    } else if (o.columns % lanes != 0) {
      o.b = packed_b;
    } else if (worth_a_copy) {
      o.copy = kept ? panels + j * o.k : panels;
      o.b = o.copy;
      if (i == 0 && (i0 == 0 || !keeps_panels(p))) {
        o.b = b_in_place + j;
        o.b_step = p.ldb;
        return tile_of<true>(height, vectors)(o);
      }
    } else {
      o.b = b_in_place + j;
      o.b_step = p.ldb;
    }
    if (p.filled_rows) o.columns = vectors * lanes;
    tile_of(height, vectors)(o);
  };
  if (by_rows) {
    for (Index i = 0; i < rows;) {
      const Index height = next_block(rows - i, tile_rows, 1);
      for (Index j = 0; j < columns; j += tile_columns) update(i, height, j);
      i += height;
    }
    return;
  }
  for (Index j = 0; j < columns; j += tile_columns) {
    const Index vectors = pieces(smaller(columns - j, tile_columns), lanes);
    // Rows that collide must not outnumber the ways of the first-level cache, which has eight or more.
    const Index most = slices                                  ? tile_rows
                       : vectors == 1 && rows_collide(o.a_row) ? 8
                                                               : most_tile_rows(vectors);
    for (Index i = 0; i < rows;) {
      const Index height = next_block(rows - i, most, 1);
      update(i, height, j);
      i += height;
    }
  }
}

void multiply(const Product& p, float* space);

void multiply_turned(const Product& p, float* space) {
  const Index most = turned_rows(p);
  for (Index first = 0; first < p.n;) {
    const Product transpose = turned(p, first, next_block(p.n - first, most, line), space);
    multiply(transpose, space + most * transpose.ldc);
    turn(space, transpose.ldc, p.m, transpose.m, p.c + first, p.ldc);
    first += transpose.m;
  }
}

void multiply(const Product& p, float* space) {
  if (is_vector_product(p)) return multiply_by_vector(p);
  if (has_few_rows(p)) return multiply_few_rows(p);
  if (multiplies_by_dots(p)) return multiply_by_dots(p, space);
  if (p.beta == 0 && is_better_turned(p, lanes)) return multiply_turned(p, space);
  if (leaves_a_column(p)) {
    multiply_by_vector(last_column(p));
    return multiply(without_last_column(p), space);
  }
  float* const a = space;
  float* const b = space + a_space(p);
  const bool a_in_place = reads_a_in_place(p), b_in_place = !packs_b(p);
  const Index block_rows = most_rows();
  Operands o{.ldc = p.ldc, .alpha = p.alpha};
  for (Index l0 = 0; l0 < p.k; l0 += o.k) {
    o.k = next_block(p.k - l0, most_k, 4);
    o.beta = l0 == 0 ? p.beta : 1;
    for (Index j0 = 0, columns = 0; j0 < p.n; j0 += columns) {
      columns = next_block(p.n - j0, together(p), tile_columns);
      // The panel of a last partial vector is copied even where B is read in place, since vectors are read
      // whole.
      const Index in_place = !b_in_place            ? 0
                             : columns % lanes == 0 ? columns
                                                    : columns / tile_columns * tile_columns;
      pack_b(p, l0, o.k, j0 + in_place, columns - in_place, b);
      for (Index i0 = 0, rows = 0; i0 < p.m; i0 += rows) {
        rows = next_block(p.m - i0, block_rows, tile_rows);
        const float* block = a;
        if (a_in_place) {
          o.a_row = p.a_transposed ? 1 : p.lda;
          o.a_step = p.a_transposed ? p.lda : 1;
          block = p.a + i0 * o.a_row + l0 * o.a_step;
        } else {
          o.a_row = p.a_transposed ? 1 : a_row_stride;
          o.a_step = 1;
          // A single block is still there from the columns before.
          if (j0 == 0 || rows < p.m) pack_a(p, i0, rows, l0, o.k, a);
        }
        multiply_block(p, block, o, i0, rows, j0, columns, b, b_in_place ? p.b + l0 * p.ldb + j0 : nullptr,
                       b + o.k * tile_columns);
      }
    }
  }
}

}  // namespace assay::blocked::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::blocked {

HWY_EXPORT(multiply);
HWY_EXPORT(space_floats);
HWY_EXPORT(multiply_small);
HWY_EXPORT(small_space_floats);

std::vector<Tier> tiers() {
  caches();  // queries the system now, not during the first product
  return tiers_in(&Tier::multiply, HWY_DISPATCH_TABLE(multiply), &Tier::space_floats,
                  HWY_DISPATCH_TABLE(space_floats), &Tier::multiply_small, HWY_DISPATCH_TABLE(multiply_small),
                  &Tier::small_space_floats, HWY_DISPATCH_TABLE(small_space_floats));
}

const Register registered{[](Registry& r) {
  add_tiers<Gemm>(
      r, tiers(),
      {.name = "simd", .summary = "register tile over copied panels, compiled for {}", .after = "packed"},
      [](const Tier& tier, const Gemm::Problem& p, const Gemm::Input& in) {
        return kernel_of({"simd", tier.multiply, tier.space_floats}, p, in);
      });
}};

}  // namespace assay::blocked
#endif
