// Products of a layer with columns of its image. `implicit_gemm`, `im2col_gemm` and `threaded` run the same
// machine code.
#pragma once

#include "assay/ops/conv2d.hpp"
#include "gemm/blocked.hpp"

namespace assay::conv2d {

/// The columns in memory at a time: a block for a second-level cache, or those of an image.
enum class Columns { of_a_block, of_an_image };

/// Makes the kernel of Conv2d, Conv2dDataGradient or, for one thread, Conv2dWeightGradient. Threads divide
/// images first; then places if each thread gets whole vectors of them, else rows of the result.
template <class Op>
typename Variant<Op>::Kernel column_sums(const blocked::Tier& tier, const typename Op::Problem& p,
                                         Columns columns, Index threads);

}  // namespace assay::conv2d
