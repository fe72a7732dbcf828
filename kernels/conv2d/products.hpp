// Layers as products of matrices: 1 x 1 layers as they are, others with columns of their image, and the bias
// beside either. `pointwise`, `implicit_gemm`, `im2col_gemm` and `threaded` run the same machine code. Images
// are those of a group: its arrays of an image are contiguous, so that a layer is n * groups of them.
#pragma once

#include "assay/ops/conv2d.hpp"
#include "gemm/blocked.hpp"

namespace assay::conv2d {

/// Whether y is a product of w and the matrix x[channels, pixels]: a single tap, no border, no stride.
inline bool is_pointwise(const Layer& p) {
  const Window w = p.window();
  return w.taps() == 1 && w.stride == 1 && w.top + w.bottom + w.left + w.right == 0;
}

/// The kernels on at most `threads` threads, without a bias.
Variant<Conv2d>::Kernel pointwise_y(const Problem& p, Index threads);
Variant<Conv2dDataGradient>::Kernel pointwise_dx(const DataProblem& p, Index threads);
Variant<Conv2dWeightGradient>::Kernel pointwise_dw(const Problem& p, Index threads);

/// The columns in memory at a time: a block for a second-level cache, or those of an image.
enum class Columns { of_a_block, of_an_image };

/// Makes the kernel of Conv2d, Conv2dDataGradient or, for one thread, Conv2dWeightGradient. Threads divide
/// images first; then places if each thread gets whole vectors of them, else rows of the result.
template <class Op>
typename Variant<Op>::Kernel column_sums(const blocked::Tier& tier, const typename Op::Problem& p,
                                         Columns columns, Index threads);

/// to[row, 0 .. columns) = from[row], where rows of `to` are `distance` floats apart.
inline void set_rows(const float* from, Index rows, Index columns, float* to, Index distance) {
  for (Index row = 0; row < rows; ++row, to += distance) {
    for (Index q = 0; q < columns; ++q) to[q] = from[row];
  }
}

/// The sum of `count` numbers in eight parts, which the compiler vectorises.
inline float sum_in_parts(const float* from, Index count) {
  constexpr Index parts = 8;
  float sums[parts] = {};
  Index i = 0;
  for (; i + parts <= count; i += parts) {
    for (Index part = 0; part < parts; ++part) sums[part] += from[i + part];
  }
  for (Index part = 0; i < count; ++i, ++part) sums[part] += from[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// dbias[f] = sum of dy over images and pixels.
inline void sum_filters(const Layer& p, const float* dy, float* dbias) {
  for (Index f = 0; f < p.f; ++f) {
    dbias[f] = 0;
    for (Index n = 0; n < p.n; ++n) {
      dbias[f] += sum_in_parts(dy + (n * p.f + f) * p.out_pixels(), p.out_pixels());
    }
  }
}

}  // namespace assay::conv2d
