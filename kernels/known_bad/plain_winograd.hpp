// F(4 x 4, 3 x 3) as its formula reads, a tile after the other, in f32: what the variants of it that are
// known to be bad change something of.
#pragma once

#include "assay/ops/conv2d_winograd.hpp"

#include <array>
#include <vector>

namespace assay::conv2d::winograd {

using Square = std::array<std::array<float, points>, points>;

/// left from left^T for the first `rows` rows of `left` and `columns` x `columns` numbers of `from`.
template <class Left>
Square both_sides(const Left& left, const Square& from, Index rows, Index columns) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  Square once{}, twice{};
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      for (Index k = 0; k < columns; ++k) {
        once[at(i)][at(j)] += static_cast<float>(left[at(i)][at(k)]) * from[at(k)][at(j)];
      }
    }
  }
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < rows; ++j) {
      for (Index k = 0; k < columns; ++k) {
        twice[at(i)][at(j)] += once[at(i)][at(k)] * static_cast<float>(left[at(j)][at(k)]);
      }
    }
  }
  return twice;
}

/// Computes y with those matrices; kept(u) is what is kept of a transformed weight. Tiles that are no whole
/// ones are left out unless `edges`.
template <class Kept>
void run_plain(const Problem& p, const Conv2d::Input& in, Conv2d::Output& out, const Matrices& m, bool edges,
               const Kept& kept) {
  const Window window = p.window();
  const Index h = window.out_h(), w = window.out_w();
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  const auto tile_of = [&](Index n, Index f, Index top, Index left) {
    Square sums{};
    for (Index c = 0; c < p.c; ++c) {
      Square weights{}, pixels{};
      for (Index i = 0; i < points; ++i) {
        for (Index j = 0; j < points; ++j) {
          if (i < taps && j < taps) weights[at(i)][at(j)] = in.w[((f * p.c + c) * taps + i) * taps + j];
          const Index row = window.row(top + i, 0), column = window.column(left + j, 0);
          if (window.inside(row, column))
            pixels[at(i)][at(j)] = in.x[((n * p.c + c) * p.h + row) * p.w + column];
        }
      }
      const Square u = both_sides(m.g, weights, points, taps), v = both_sides(m.b, pixels, points, points);
      for (Index i = 0; i < points; ++i) {
        for (Index j = 0; j < points; ++j) sums[at(i)][at(j)] += kept(u[at(i)][at(j)]) * v[at(i)][at(j)];
      }
    }
    return both_sides(m.a, sums, results, points);
  };
  for (Index n = 0; n < p.n; ++n) {
    for (Index f = 0; f < p.f; ++f) {
      for (Index top = 0; top < h; top += results) {
        for (Index left = 0; left < w; left += results) {
          if (!edges && (top + results > h || left + results > w)) continue;
          const Square y = tile_of(n, f, top, left);
          for (Index i = top; i < h && i < top + results; ++i) {
            for (Index j = left; j < w && j < left + results; ++j) {
              out.y[((n * p.f + f) * h + i) * w + j] =
                  y[at(i - top)][at(j - left)] + (p.has_bias() ? in.bias[f] : 0);
            }
          }
        }
      }
    }
  }
}

}  // namespace assay::conv2d::winograd
