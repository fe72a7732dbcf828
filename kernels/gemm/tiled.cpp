// The idea: a tile of C stays in registers while k runs, where `reordered` loads and stores C again for every
// k. A step of k loads 4 + 8 operands for 32 multiply-adds, and the columns of B that all tiles of a column
// read stay in a cache. Operands are read where they lie. In a large B each row is on a page of its own and
// rows evict each other; `packed` copies them together.

#include "assay/ops/gemm.hpp"

#include <algorithm>

namespace assay {
namespace {

// 4 x 8 sums fill 8 of the 16 vector registers of SSE2, with room for operands and products.
constexpr Index tile_rows = 4;
constexpr Index tile_columns = 8;

/// An operand in memory: element (i, l) of op(A), or (l, i) of op(B), is at[i * distance + l * step].
struct Operand {
  const float* at;
  Index distance, step;
  Operand from(Index i) const { return {at + i * distance, distance, step}; }
};

struct Sums {
  float at[tile_rows][tile_columns] = {};
};

/// A whole tile. The compiler vectorises columns of op(B) that lie side by side.
template <bool side_by_side>
Sums whole_tile(Operand a, Operand b, Index k) {
  Sums sums;
  for (Index l = 0; l < k; ++l) {
    const float* row = b.at + l * b.step;
    float from_b[tile_columns];
    if constexpr (side_by_side) {
      std::copy_n(row, tile_columns, from_b);
    } else {
      for (Index j = 0; j < tile_columns; ++j) from_b[j] = row[j * b.distance];
    }
    for (Index i = 0; i < tile_rows; ++i) {
      const float from_a = a.at[i * a.distance + l * a.step];
      for (Index j = 0; j < tile_columns; ++j) sums.at[i][j] += from_a * from_b[j];
    }
  }
  return sums;
}

/// The tile at an edge of C.
Sums part_of_tile(const Operand& a, const Operand& b, Index rows, Index columns, Index k) {
  Sums sums;
  for (Index l = 0; l < k; ++l) {
    for (Index i = 0; i < rows; ++i) {
      const float from_a = a.at[i * a.distance + l * a.step];
      for (Index j = 0; j < columns; ++j) sums.at[i][j] += from_a * b.at[j * b.distance + l * b.step];
    }
  }
  return sums;
}

void run(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  const Operand a{in.a.data(), p.a_transposed() ? 1 : p.k, p.a_transposed() ? p.m : 1};
  const Operand b{in.b.data(), p.b_transposed() ? p.k : 1, p.b_transposed() ? 1 : p.n};
  const float alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  for (Index j = 0; j < p.n; j += tile_columns) {
    const Index columns = std::min(tile_columns, p.n - j);
    for (Index i = 0; i < p.m; i += tile_rows) {
      const Index rows = std::min(tile_rows, p.m - i);
      const Sums sums = rows < tile_rows || columns < tile_columns
                            ? part_of_tile(a.from(i), b.from(j), rows, columns, p.k)
                        : b.distance == 1 ? whole_tile<true>(a.from(i), b.from(j), p.k)
                                          : whole_tile<false>(a.from(i), b.from(j), p.k);
      for (Index r = 0; r < rows; ++r) {
        float* c = out.c.data() + (i + r) * p.n + j;
        for (Index s = 0; s < columns; ++s) c[s] = alpha * sums.at[r][s] + (beta == 0 ? 0 : beta * c[s]);
      }
    }
  }
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "tiled",
               .summary = "4 x 8 register tile, operands where they lie, plain C++",
               .after = "reordered",
               .run = run});
}};

}  // namespace
}  // namespace assay
