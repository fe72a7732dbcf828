// The work that cheats leave out, delay or hide: a product with a vector, plain and right.
#pragma once

#include "assay/ops/gemv.hpp"

namespace assay::known_cheats {

inline void gemv(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const matrix::View<float> a = matrix::view(in.a.data(), p.results(), p.terms(), p.transposed());
  for (Index i = 0; i < p.results(); ++i) {
    float sum = 0;
    for (Index l = 0; l < p.terms(); ++l) sum += a(i, l) * in.x[l];
    out.y[i] = sum;
  }
}

}  // namespace assay::known_cheats
