// Published: the variance as sum x^2 / n - mean^2, in one pass over the row. Both terms are about mean^2, and
// what cancels takes the digits of the variance with it.

#include "assay/ops/layernorm.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

void run(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  const auto cols = static_cast<float>(p.cols);
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = in.x.data() + r * p.cols;
    float* y = out.y.data() + r * p.cols;
    float sum = 0, squares = 0;
    for (Index j = 0; j < p.cols; ++j) {
      sum += x[j];
      squares += x[j] * x[j];
    }
    const float mean = sum / cols;
    // Without the floor of zero the root of a negative variance would be NaN.
    const float variance = std::max(squares / cols - mean * mean, 0.0F);
    const float rstd = 1 / std::sqrt(variance + static_cast<float>(layernorm::epsilon));
    for (Index j = 0; j < p.cols; ++j) y[j] = (x[j] - mean) * rstd * in.gamma[j] + in.beta[j];
    out.mean[r] = mean;
    out.rstd[r] = rstd;
  }
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>({.name = "sum_of_squares",
                    .summary = "one pass for sum and sum of squares",
                    .known_bad = "common in fused kernels: cancels where the mean is large beside the spread",
                    .run = run});
}};

}  // namespace
}  // namespace assay
