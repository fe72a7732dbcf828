// The work that cheats leave out, delay or hide: a convolution, plain and right.
#pragma once

#include "assay/ops/conv2d_terms.hpp"

namespace assay::known_cheats {

inline void conv2d_filter(const Conv2d::Problem& p, const Conv2d::Input& in, Conv2d::Output& out, Index image,
                          Index filter) {
  const Index rows = p.window().out_h(), columns = p.window().out_w();
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      float sum = p.has_bias() ? in.bias[filter] : 0;
      conv2d::terms_of_y(p, image, filter, i, j,
                         [&](Index at_x, Index at_w) { sum += in.x[at_x] * in.w[at_w]; });
      out.y[((image * p.f + filter) * rows + i) * columns + j] = sum;
    }
  }
}
inline void conv2d_all(const Conv2d::Problem& p, const Conv2d::Input& in, Conv2d::Output& out) {
  for (Index image = 0; image < p.n; ++image) {
    for (Index filter = 0; filter < p.f; ++filter) conv2d_filter(p, in, out, image, filter);
  }
}

}  // namespace assay::known_cheats
