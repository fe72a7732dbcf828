// A 1 x 1 layer as products of matrices. `pointwise` and `threaded` run the same machine code.
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

}  // namespace assay::conv2d
