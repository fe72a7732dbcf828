// Faults of Winograd's convolution, each a change of F(4 x 4, 3 x 3) as its formula reads, one tile after the
// other, in f32.

#include "assay/ops/conv2d.hpp"

#include <array>
#include <cmath>

namespace assay::conv2d::winograd {
namespace {

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

/// Computes y with those matrices and kept(u) for each transformed weight u. Partial tiles are left out
/// unless `edges`.
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

// Common where weights outgrow a cache: transformed weights, four times as many as those of the kernel, are
// kept in half precision. Their rounding errors are multiplied up on the way back to results.
float in_half(float x) {
  // 11 bits, and any exponent: the best case.
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
}

void half_precision_tiles(const WinogradProblem& p, const Conv2dWinograd::Input& in,
                          Conv2dWinograd::Output& out) {
  run_plain(p, in, out, matrices(), true, in_half);
}

// Common where matrices are copied from a paper: a coefficient with too few digits. 225/256 of the
// transformation of pixels became 0.88, a thousandth too much, which no picture shows.
void rounded_coefficient(const WinogradProblem& p, const Conv2dWinograd::Input& in,
                         Conv2dWinograd::Output& out) {
  Matrices m = matrices();
  m.b[0][0] = 0.88;
  run_plain(p, in, out, m, true, [](float u) { return u; });
}

// Common in first versions: the image is divided into tiles of 4 x 4 results, and the partial tiles of the
// last row and column are forgotten. It is right wherever extents of the result are multiples of 4.
void whole_tiles_only(const WinogradProblem& p, const Conv2dWinograd::Input& in,
                      Conv2dWinograd::Output& out) {
  run_plain(p, in, out, matrices(), false, [](float u) { return u; });
}

const Register registered{[](Registry& r) {
  r.add<Conv2dWinograd>(
      {.name = "half_precision_tiles",
       .summary = "transformed weights kept in half precision",
       .known_bad = "half precision for transformed weights: their rounding is multiplied up",
       .precision = "transformed weights of f16",
       .run = half_precision_tiles});
  r.add<Conv2dWinograd>({.name = "rounded_coefficient",
                         .summary = "0.88 for 225/256 in the transformation of pixels",
                         .known_bad = "a coefficient with two digits: a sum off by a thousandth of a pixel",
                         .precision = "sums of transformed tiles",
                         .run = rounded_coefficient});
  r.add<Conv2dWinograd>({.name = "whole_tiles_only",
                         .summary = "tiles that reach past the result left out",
                         .known_bad = "an edge of less than a tile is lost",
                         .precision = "sums of transformed tiles",
                         .run = whole_tiles_only});
}};

}  // namespace
}  // namespace assay::conv2d::winograd
