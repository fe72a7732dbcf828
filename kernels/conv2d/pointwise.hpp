// A 1 x 1 layer as products of matrices, for the variants `pointwise` and `threaded`.
#pragma once

#include "assay/ops/conv2d.hpp"
#include "gemm/blocked.hpp"

#include <algorithm>

namespace assay::conv2d {

/// Whether y is a product of w and the matrix x[channels, pixels]: a single tap, no border, no stride.
inline bool is_pointwise(const Layer& p) {
  const Window w = p.window();
  return w.taps() == 1 && w.stride == 1 && w.top + w.bottom + w.left + w.right == 0;
}

/// A part of the result of one image.
struct Block {
  Index row = 0, rows = 0, column = 0, columns = 0;
};

/// y[f, pixels] = w x + beta y.
inline blocked::Product product_y(const Layer& p, const Block& at, const float* x, const float* w, float beta,
                                  float* y) {
  return {.m = at.rows,
          .n = at.columns,
          .k = p.c,
          .a = blocked::moved(w, at.row * p.c),
          .b = blocked::moved(x, at.column),
          .c = blocked::moved(y, at.row * p.pixels() + at.column),
          .lda = p.c,
          .ldb = p.pixels(),
          .ldc = p.pixels(),
          .beta = beta};
}

/// dx[c, pixels] = w^T dy.
inline blocked::Product product_dx(const Layer& p, const Block& at, const float* dy, const float* w,
                                   float* dx) {
  return {.m = at.rows,
          .n = at.columns,
          .k = p.f,
          .a = blocked::moved(w, at.row),
          .b = blocked::moved(dy, at.column),
          .c = blocked::moved(dx, at.row * p.pixels() + at.column),
          .lda = p.c,
          .ldb = p.pixels(),
          .ldc = p.pixels(),
          .a_transposed = true};
}

/// dw[f, c] = dy x^T + beta dw.
inline blocked::Product product_dw(const Layer& p, const Block& at, const float* dy, const float* x,
                                   float beta, float* dw) {
  return {.m = at.rows,
          .n = at.columns,
          .k = p.pixels(),
          .a = blocked::moved(dy, at.row * p.pixels()),
          .b = blocked::moved(x, at.column * p.pixels()),
          .c = blocked::moved(dw, at.row * p.c + at.column),
          .lda = p.pixels(),
          .ldb = p.pixels(),
          .ldc = p.c,
          .b_transposed = true,
          .beta = beta};
}

/// Rows of y that get their bias right before the product adds to them: half of a second-level cache.
inline Index rows_with_bias(const Layer& p) { return std::max<Index>(14, 128 * 1024 / p.pixels()); }

}  // namespace assay::conv2d
