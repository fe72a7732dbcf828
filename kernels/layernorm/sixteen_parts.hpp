// A sum in sixteen independent parts, which the compiler may keep in vectors. A single running sum, as in
// `naive`, has a fixed order that forbids it.
#pragma once

#include "assay/problem.hpp"

namespace assay::layernorm {

/// Four vectors of the plain ABI: enough to hide the latency of an addition, which is 2 to 4 cycles.
constexpr Index parts = 16;

inline float total(float (&part)[parts]) {
  for (Index width = parts / 2; width > 0; width /= 2) {
    for (Index l = 0; l < width; ++l) part[l] += part[l + width];
  }
  return part[0];
}

/// Sum of term(x[j]) over a row.
template <class Term>
float sum(const float* x, Index cols, const Term& term) {
  float part[parts] = {};
  Index j = 0;
  for (; j + parts <= cols; j += parts) {
    for (Index l = 0; l < parts; ++l) part[l] += term(x[j + l]);
  }
  for (Index l = 0; j < cols; ++j, ++l) part[l] += term(x[j]);
  return total(part);
}

}  // namespace assay::layernorm
