// The bias beside a product of matrices: the start of y, and the gradient of the bias.
#pragma once

#include "assay/ops/conv2d.hpp"

namespace assay::conv2d {

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
