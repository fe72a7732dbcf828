// The idea: sums in sixteen independent parts. Each step (means, variances, results) is taken for all rows
// before the next, as by separate calls of a library; past the caches, each step reads x from memory.

#include "layernorm/rows.hpp"

#include <cmath>

namespace assay::layernorm {
namespace {

void run(const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  const auto cols = static_cast<float>(p.cols);
  const Operands on = operands(p, in, out);
  for (Index r = 0; r < p.rows; ++r) {
    on.mean[r] = sum(on.x + r * p.cols, p.cols, [](float v) { return v; }) / cols;
  }
  for (Index r = 0; r < p.rows; ++r) {
    const float mean = on.mean[r];
    const float squares = sum(on.x + r * p.cols, p.cols, [mean](float v) { return (v - mean) * (v - mean); });
    on.rstd[r] = 1 / std::sqrt(squares / cols + static_cast<float>(epsilon));
  }
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = on.x + r * p.cols;
    float* y = on.y + r * p.cols;
    const float mean = on.mean[r], rstd = on.rstd[r];
    for (Index j = 0; j < p.cols; ++j) y[j] = (x[j] - mean) * rstd * on.gamma[j] + on.beta[j];
  }
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>(
      {.name = "two_pass", .summary = "sums in sixteen parts, each step over all rows", .run = run});
}};

}  // namespace
}  // namespace assay::layernorm
