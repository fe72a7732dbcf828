// The idea: the corrected two-pass variance, one row after another. Deviations from the rounded mean do not
// add up to 0; subtracting the square of their sum over n removes the error of the mean from the variance.
// Chan, Golub and LeVeque, The American Statistician 37(3), 1983, section 1. It costs another walk over the
// row, and the variance is better if the mean is large beside the spread.

#include "layernorm/rows.hpp"

#include <algorithm>
#include <cmath>

namespace assay::layernorm {
namespace {

/// The variance around an inexact mean.
float variance_around(float mean, const float* x, Index cols) {
  const auto n = static_cast<float>(cols);
  const float left = sum(x, cols, [mean](float v) { return v - mean; });
  const float squares = sum(x, cols, [mean](float v) { return (v - mean) * (v - mean); });
  // If a row hardly varies, rounding can make the difference negative.
  return std::max(squares - left * left / n, 0.0F) / n;
}

void run(const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  const Operands on = operands(p, in, out);
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = on.x + r * p.cols;
    float* y = on.y + r * p.cols;
    const float mean = on.mean[r] = sum(x, p.cols, [](float v) { return v; }) / static_cast<float>(p.cols);
    const float variance = variance_around(mean, x, p.cols);
    const float rstd = on.rstd[r] = 1 / std::sqrt(variance + static_cast<float>(epsilon));
    for (Index j = 0; j < p.cols; ++j) y[j] = (x[j] - mean) * rstd * on.gamma[j] + on.beta[j];
  }
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>(
      {.name = "corrected", .summary = "two passes, the error of the mean taken out", .run = run});
}};

}  // namespace
}  // namespace assay::layernorm
