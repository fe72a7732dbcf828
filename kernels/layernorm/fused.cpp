// The idea: sums in sixteen independent parts, which the compiler may keep in vectors. One running sum, as in
// `naive`, has a fixed order that forbids it. x is read from memory once, if its row stays in a cache.

#include "layernorm/rows.hpp"

#include "assay/registry.hpp"

#include <cmath>

namespace assay::layernorm {
namespace {

/// Four vectors of the plain ABI: enough to hide the latency of an addition, which is 2 to 4 cycles.
constexpr Index parts = 16;

/// Sum of term(x[j]) over a row.
template <class Term>
float sum(const float* x, Index cols, const Term& term) {
  float part[parts] = {};
  Index j = 0;
  for (; j + parts <= cols; j += parts) {
    for (Index l = 0; l < parts; ++l) part[l] += term(x[j + l]);
  }
  for (Index l = 0; j < cols; ++j, ++l) part[l] += term(x[j]);
  for (Index width = parts / 2; width > 0; width /= 2) {
    for (Index l = 0; l < width; ++l) part[l] += part[l + width];
  }
  return part[0];
}

float reciprocal_root(float spread) { return 1 / std::sqrt(spread + static_cast<float>(epsilon)); }

template <class Op>
void run(const Problem& p, const typename Op::Input& in, typename Op::Output& out) {
  const auto cols = static_cast<float>(p.cols);
  const Operands on = operands(p, in, out);
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = on.x + r * p.cols;
    float* y = on.y + r * p.cols;
    if constexpr (requires { out.s; }) {
      float* s = on.s + r * p.cols;
      for (Index j = 0; j < p.cols; ++j) s[j] = x[j] + on.r[r * p.cols + j];
      x = s;
    }
    if constexpr (requires { out.mean; }) {
      const float mean = on.mean[r] = sum(x, p.cols, [](float v) { return v; }) / cols;
      const float squares = sum(x, p.cols, [mean](float v) { return (v - mean) * (v - mean); });
      const float rstd = on.rstd[r] = reciprocal_root(squares / cols);
      for (Index j = 0; j < p.cols; ++j) y[j] = (x[j] - mean) * rstd * on.gamma[j] + on.beta[j];
    } else {
      const float rstd = on.rstd[r] = reciprocal_root(sum(x, p.cols, [](float v) { return v * v; }) / cols);
      for (Index j = 0; j < p.cols; ++j) y[j] = x[j] * rstd * on.gamma[j];
    }
  }
}

const Register registered{[](Registry& r) {
  for_each_norm([&]<class Op>() {
    r.add<Op>({.name = "fused", .summary = "sums in sixteen parts, compiler-vectorised", .run = run<Op>});
  });
}};

}  // namespace
}  // namespace assay::layernorm
