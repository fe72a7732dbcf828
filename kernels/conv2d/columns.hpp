// Columns of an image as im2col writes them, all or in blocks. Row k of the columns is a channel under a tap,
// column p a place of the window.
#pragma once

#include "assay/ops/conv2d.hpp"

#include <vector>

namespace assay::conv2d {

/// The pixel of the source that each tap sees: at place (i, j) it is (i stride + row, j stride + column).
struct ColumnMap {
  struct Shift {
    Index row, column;
  };
  Index source_h = 0, source_w = 0, out_h = 0, out_w = 0, stride = 1;
  std::vector<Shift> taps;

  Index pixels() const { return out_h * out_w; }
};

/// The columns of x for y.
ColumnMap columns_of_x(const Layer& p);
/// Copies rows [row, row + rows) and columns [first, first + count): to[r * ld + q] = source at (row + r,
/// first + q), zero outside the image.
void gather(const ColumnMap& map, const float* source, Index row, Index rows, Index first, Index count,
            float* to, Index ld);

/// The transpose of gathering whole rows of places: adds columns[r * ld + q], the rows [row, row + rows) at
/// the window's rows [i, i + count), to the pixels from which they were gathered.
void scatter_add(const ColumnMap& map, const float* columns, Index ld, Index row, Index rows, Index i,
                 Index count, float* source);

}  // namespace assay::conv2d
