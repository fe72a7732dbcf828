// The idea: the tile of `tiled` reads both operands with stride one, from panels that are copied in blocks
// and stay in the caches. Plain C++: the compiler vectorises the loop over columns for the plain ABI.

#include "blocks.hpp"

#include "assay/ops/gemm.hpp"

#include <algorithm>

namespace assay {
namespace {

// 4 x 8 sums fill 8 of the 16 vector registers of SSE2, with room for operands and products.
constexpr Index tile_rows = 4;
constexpr Index tile_columns = 8;
// A panel of B of 256 steps takes 8 KiB and one of A 4 KiB: both fit the first-level cache. 64 rows of A take
// 64 KiB and 256 columns of B 256 KiB, for the second level.
constexpr Index most_k = 256;
constexpr Index most_rows = 64;
constexpr Index most_columns = 256;

// Copies `extent` rows of op(A) or columns of op(B) into panels as wide as the tile, padded with zeros:
// to[panel][l][i] = from[i * distance + l * step].
template <Index width>
void pack(const float* from, Index distance, Index step, Index extent, Index k, float* to) {
  for (Index i0 = 0; i0 < extent; i0 += width) {
    const Index filled = std::min(width, extent - i0);
    for (Index l = 0; l < k; ++l, to += width) {
      const float* source = from + i0 * distance + l * step;
      for (Index i = 0; i < filled; ++i) to[i] = source[i * distance];
      for (Index i = filled; i < width; ++i) to[i] = 0;
    }
  }
}

struct Sums {
  float at[tile_rows][tile_columns] = {};
};

Sums multiply_panels(const float* __restrict a, const float* __restrict b, Index k) {
  Sums sums;
  for (Index l = 0; l < k; ++l, a += tile_rows, b += tile_columns) {
    for (Index i = 0; i < tile_rows; ++i) {
      for (Index j = 0; j < tile_columns; ++j) sums.at[i][j] += a[i] * b[j];
    }
  }
  return sums;
}

void run(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out, float* packed_a, float* packed_b) {
  const Index a_row = p.a_transposed() ? 1 : p.k, a_step = p.a_transposed() ? p.m : 1;
  const Index b_column = p.b_transposed() ? p.k : 1, b_step = p.b_transposed() ? 1 : p.n;
  const float alpha = static_cast<float>(p.alpha);
  for (Index j0 = 0; j0 < p.n; j0 += most_columns) {
    const Index columns = std::min(most_columns, p.n - j0);
    for (Index l0 = 0; l0 < p.k; l0 += most_k) {
      const Index k = std::min(most_k, p.k - l0);
      const float beta = l0 == 0 ? static_cast<float>(p.beta) : 1;
      pack<tile_columns>(in.b.data() + j0 * b_column + l0 * b_step, b_column, b_step, columns, k, packed_b);
      for (Index i0 = 0; i0 < p.m; i0 += most_rows) {
        const Index rows = std::min(most_rows, p.m - i0);
        pack<tile_rows>(in.a.data() + i0 * a_row + l0 * a_step, a_row, a_step, rows, k, packed_a);
        for (Index j = 0; j < columns; j += tile_columns) {
          for (Index i = 0; i < rows; i += tile_rows) {
            const Sums sums = multiply_panels(packed_a + i * k, packed_b + j * k, k);
            const Index height = std::min(tile_rows, rows - i), width = std::min(tile_columns, columns - j);
            for (Index r = 0; r < height; ++r) {
              float* c = out.c.data() + (i0 + i + r) * p.n + j0 + j;
              for (Index s = 0; s < width; ++s) {
                c[s] = alpha * sums.at[r][s] + (beta == 0 ? 0 : beta * c[s]);
              }
            }
          }
        }
      }
    }
  }
}

Variant<Gemm>::Kernel prepare(const Gemm::Problem& p, const Gemm::Input&, const Context&) {
  const Index k = std::min(most_k, p.k);
  return [p, a = Buffer<float>(rounded_up(std::min(most_rows, p.m), tile_rows) * k),
          b = Buffer<float>(rounded_up(std::min(most_columns, p.n), tile_columns) * k)](
             const Gemm::Input& in, Gemm::Output& out) mutable { run(p, in, out, a.data(), b.data()); };
}

const Register registered{[](Registry& r) {
  r.add<Gemm>({.name = "packed",
               .summary = "4 x 8 register tile over packed panels, plain C++",
               .after = "tiled",
               .prepare = prepare});
}};

}  // namespace
}  // namespace assay
