/// The products that sum up to an element of y, dx and dw, and the naive variants. The references of
/// convolution walk them, and those of networks that contain one.
#pragma once

#include "assay/ops/conv2d.hpp"

namespace assay::conv2d {

/// The products that sum up to y[n, f, i, j], as visit(position in x, position in w).
template <class Visit>
void terms_of_y(const Layer& p, Index n, Index f, Index i, Index j, const Visit& visit) {
  const Window window = p.window();
  for (Index c = 0; c < p.c; ++c) {
    for (Index k = 0; k < window.kernel_h; ++k) {
      for (Index l = 0; l < window.kernel_w; ++l) {
        const Index row = window.row(i, k), column = window.column(j, l);
        if (!window.inside(row, column)) continue;
        visit(((n * p.c + c) * p.h + row) * p.w + column,
              ((f * p.c + c) * window.kernel_h + k) * window.kernel_w + l);
      }
    }
  }
}

/// The products that sum up to dx[n, c, row, column], as visit(position in dy, position in w).
template <class Visit>
void terms_of_dx(const Layer& p, Index n, Index c, Index row, Index column, const Visit& visit) {
  const Window window = p.window();
  const Index out_h = window.out_h(), out_w = window.out_w();
  for (Index f = 0; f < p.f; ++f) {
    for (Index k = 0; k < window.kernel_h; ++k) {
      const Index i = Window::place(row + window.top, k * window.dilation, window.stride, out_h);
      if (i < 0) continue;
      for (Index l = 0; l < window.kernel_w; ++l) {
        const Index j = Window::place(column + window.left, l * window.dilation, window.stride, out_w);
        if (j < 0) continue;
        visit(((n * p.f + f) * out_h + i) * out_w + j,
              ((f * p.c + c) * window.kernel_h + k) * window.kernel_w + l);
      }
    }
  }
}

/// The products that sum up to dw[f, c, k, l], as visit(position in dy, position in x).
template <class Visit>
void terms_of_dw(const Layer& p, Index f, Index c, Index k, Index l, const Visit& visit) {
  const Window window = p.window();
  const Index out_h = window.out_h(), out_w = window.out_w();
  for (Index n = 0; n < p.n; ++n) {
    for (Index i = 0; i < out_h; ++i) {
      for (Index j = 0; j < out_w; ++j) {
        const Index row = window.row(i, k), column = window.column(j, l);
        if (!window.inside(row, column)) continue;
        visit(((n * p.f + f) * out_h + i) * out_w + j, ((n * p.c + c) * p.h + row) * p.w + column);
      }
    }
  }
}

/// An array [a, b, c, d] that is summed from products of elements of two others.
struct Sums {
  Index extents[4];
  Index size() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
  Index flat(Index a, Index b, Index c, Index d) const {
    return ((a * extents[1] + b) * extents[2] + c) * extents[3] + d;
  }
  template <class Visit>
  auto at(Index flat, const Visit& visit) const {
    const Index d = flat % extents[3], c = flat / extents[3] % extents[2];
    const Index b = flat / extents[3] / extents[2] % extents[1];
    return visit(flat / extents[3] / extents[2] / extents[1], b, c, d);
  }
};
inline Sums sums_y(const Layer& p) { return {{p.n, p.f, p.window().out_h(), p.window().out_w()}}; }
inline Sums sums_dx(const Layer& p) { return {{p.n, p.c, p.h, p.w}}; }
inline Sums sums_dw(const Layer& p) { return {{p.f, p.c, p.window().kernel_h, p.window().kernel_w}}; }

/// The specification: an element as the sum of its terms. In float it is the naive variant.
template <class Real, class Terms>
Real sum_of(const Terms& terms, const Buffer<float>& a, const Buffer<float>& b) {
  Real sum = 0;
  terms([&](Index in_a, Index in_b) { sum += static_cast<Real>(a[in_a]) * static_cast<Real>(b[in_b]); });
  return sum;
}

inline void naive_y(const Problem& p, const Conv2d::Input& in, Conv2d::Output& out) {
  const Sums sums = sums_y(p);
  for (Index flat = 0; flat < sums.size(); ++flat) {
    sums.at(flat, [&](Index n, Index f, Index i, Index j) {
      const auto terms = [&](const auto& visit) { terms_of_y(p, n, f, i, j, visit); };
      out.y[flat] = sum_of<float>(terms, in.x, in.w) + (p.has_bias() ? in.bias[f] : 0);
    });
  }
}

inline void naive_dx(const DataProblem& p, const Conv2dDataGradient::Input& in,
                     Conv2dDataGradient::Output& out) {
  const Sums sums = sums_dx(p);
  for (Index flat = 0; flat < sums.size(); ++flat) {
    sums.at(flat, [&](Index n, Index c, Index row, Index column) {
      const auto terms = [&](const auto& visit) { terms_of_dx(p, n, c, row, column, visit); };
      out.dx[flat] = sum_of<float>(terms, in.dy, in.w);
    });
  }
}

}  // namespace assay::conv2d
