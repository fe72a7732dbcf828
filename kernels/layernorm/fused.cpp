// The idea: all steps of one row before the next, sums in sixteen independent parts. x is read from memory
// once if its row stays in a cache.

#include "layernorm/rows.hpp"

#include <cmath>

namespace assay::layernorm {
namespace {

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
