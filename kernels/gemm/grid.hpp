// The grid that cuts C into one rectangle per thread, and the part of a product that a rectangle is.
#pragma once

#include "blocks.hpp"
#include "gemm/blocked.hpp"

#include "assay/problem.hpp"

#include <algorithm>
#include <limits>

namespace assay::blocked {

// Rectangles begin at multiples of these: inner ones hold whole tiles and, where C is aligned, whole cache
// lines. 16 columns are a cache line and the widest vector.
inline constexpr Index row_unit = 8;
inline constexpr Index column_unit = 16;

/// Parts of C in each direction.
struct Grid {
  Index rows = 1, columns = 1;
  int parts() const { return static_cast<int>(rows * columns); }
};

// Multiply-adds per thread below which a fork and join costs more than a thread saves. Measured for f32 on
// two cores of a Zen 5: 96^3 is 1.3 times as fast on two threads, and half of its work is 1.7 times this
// threshold.
inline constexpr double least_multiply_adds = 0x1p18;

/// The grid of at most `threads` parts whose largest part takes least. An element of A or B that is copied
/// for it counts as much as five multiply-adds.
inline Grid choose_grid(Index m, Index n, Index k, int threads, double least = least_multiply_adds) {
  // For a row or a column half of that is enough, since each multiply-add waits for an element of the matrix:
  // 512 x 512 is faster on two threads (gemv/threaded.cpp).
  if (m == 1 || n == 1) least /= 2;
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const Index worth = std::max<Index>(1, static_cast<Index>(work / least));
  const Index parts = std::min<Index>(threads, worth);
  const Index most_rows = pieces(m, row_unit), most_columns = pieces(n, column_unit);
  Grid best;
  double least_cost = std::numeric_limits<double>::infinity();
  for (Index rows = 1; rows <= std::min(parts, most_rows); ++rows) {
    const Grid grid{rows, std::min(parts / rows, most_columns)};
    const double height = static_cast<double>(std::min(m, pieces(most_rows, rows) * row_unit));
    const double width = static_cast<double>(pieces(most_columns, grid.columns) * column_unit);
    const double cost = height * width + 5 * (height + width);  // in units of k multiply-adds
    if (cost < least_cost) {
      best = grid;
      least_cost = cost;
    }
  }
  return best;
}

struct Rectangle {
  Index row = 0, rows = 0, column = 0, columns = 0;
};

inline Rectangle rectangle(const Grid& grid, Index m, Index n, Index i) {
  const Index row = i / grid.columns, column = i % grid.columns;
  const Index top = cut(m, row_unit, row, grid.rows), bottom = cut(m, row_unit, row + 1, grid.rows);
  const Index left = cut(n, column_unit, column, grid.columns);
  const Index right = cut(n, column_unit, column + 1, grid.columns);
  return {.row = top, .rows = bottom - top, .column = left, .columns = right - left};
}

/// A part of a product, of f32 or bf16; null addresses stay null.
template <class AnyProduct>
AnyProduct part_of(AnyProduct p, const Rectangle& r) {
  p.a = moved(p.a, p.a_transposed ? r.row : r.row * p.lda);
  p.b = moved(p.b, p.b_transposed ? r.column * p.ldb : r.column);
  p.c = moved(p.c, r.row * p.ldc + r.column);
  p.m = r.rows;
  p.n = r.columns;
  return p;
}

}  // namespace assay::blocked
