// The kernels of `winograd` on any number of threads. `threaded` runs the same machine code.
#pragma once

#include "conv2d_winograd/tiles.hpp"

namespace assay::conv2d::winograd {

/// The precision of the variants: with few channels, errors are more than 8 times those of a direct sum.
inline constexpr auto lost_digits = "sums of transformed tiles";

/// At most `threads` threads. The constant weights `w` of y are transformed here.
Variant<Conv2dWinograd>::Kernel kernel_of_y(const Tier& tier, const WinogradProblem& p, const float* w,
                                            Index threads);
Variant<Conv2dWinogradDataGradient>::Kernel kernel_of_dx(const Tier& tier, const WinogradDataProblem& p,
                                                         Index threads);

}  // namespace assay::conv2d::winograd
