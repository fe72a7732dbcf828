// The grid that cuts C into one rectangle per thread.
#pragma once

#include "blocks.hpp"

#include "assay/problem.hpp"

#include <algorithm>

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

/// The grid with the most parts, at most one per thread; among those, the grid that copies least of A and B.
inline Grid choose_grid(Index m, Index n, Index k, int threads, double least = least_multiply_adds) {
  // For a row or a column half of that is enough, since each multiply-add waits for an element of the matrix:
  // 512 x 512 is faster on two threads (gemv/threaded.cpp).
  if (m == 1 || n == 1) least /= 2;
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const Index worth = std::max<Index>(1, static_cast<Index>(work / least));
  const Index parts = std::min<Index>(threads, worth);
  const Index most_rows = pieces(m, row_unit), most_columns = pieces(n, column_unit);
  Grid best;
  double least_copied = 0;
  for (Index rows = 1; rows <= std::min(parts, most_rows); ++rows) {
    const Grid grid{rows, std::min(parts / rows, most_columns)};
    const double copied = static_cast<double>(m * grid.columns + n * grid.rows);  // in units of k floats
    const Index used = grid.rows * grid.columns, best_used = best.rows * best.columns;
    if (used > best_used || (used == best_used && copied < least_copied)) {
      best = grid;
      least_copied = copied;
    }
  }
  return best;
}

struct Rectangle {
  Index row = 0, rows = 0, column = 0, columns = 0;
};

/// The i-th part of C[m, n].
inline Rectangle rectangle(const Grid& grid, Index m, Index n, Index i) {
  const Index row = i / grid.columns, column = i % grid.columns;
  const Index top = cut(m, row_unit, row, grid.rows), bottom = cut(m, row_unit, row + 1, grid.rows);
  const Index left = cut(n, column_unit, column, grid.columns);
  const Index right = cut(n, column_unit, column + 1, grid.columns);
  return {.row = top, .rows = bottom - top, .column = left, .columns = right - left};
}

}  // namespace assay::blocked
