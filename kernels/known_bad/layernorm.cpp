// Normalizations that were published and lose the digits of a variance, or of dx, that is small beside the
// mean.

#include "assay/ops/layernorm.hpp"
#include "assay/ops/layernorm_backward.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

void normalize(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out, Index row,
               float mean, float variance) {
  const float rstd = 1 / std::sqrt(variance + static_cast<float>(layernorm::epsilon));
  for (Index j = 0; j < p.cols; ++j) {
    const Index at = row * p.cols + j;
    out.y[at] = (in.x[at] - mean) * rstd * in.gamma[j] + in.beta[j];
  }
  out.mean[row] = mean;
  out.rstd[row] = rstd;
}

// Published: the variance as sum x^2 / n - mean^2, in one pass over the row. Both terms are about mean^2, and
// their cancellation takes the digits of the variance with it.
void sum_of_squares(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  const auto cols = static_cast<float>(p.cols);
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = in.x.data() + r * p.cols;
    float sum = 0, squares = 0;
    for (Index j = 0; j < p.cols; ++j) {
      sum += x[j];
      squares += x[j] * x[j];
    }
    const float mean = sum / cols;
    // Without the floor of zero the root of a negative variance would be NaN.
    normalize(p, in, out, r, mean, std::max(squares / cols - mean * mean, 0.0F));
  }
}

// Published: Welford's one-pass updates in single precision, "for stability". Each update rounds the mean;
// where the mean is large beside the spread, the rounding is as large as the terms of the squares. The plain
// two-pass formula rounds the mean once and is closer.
void welford_in_single(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = in.x.data() + r * p.cols;
    float mean = 0, squares = 0;
    for (Index j = 0; j < p.cols; ++j) {
      const float before = x[j] - mean;
      mean += before / static_cast<float>(j + 1);
      squares += before * (x[j] - mean);
    }
    normalize(p, in, out, r, mean, squares / static_cast<float>(p.cols));
  }
}

// Published: dx = a dy gamma + b x + c with b = (mean sum(w) - sum(w x)) rstd^3 / n and c = -b mean - sum(w)
// rstd / n, which saves the subtraction x - mean in both walks (w = dy gamma, a = rstd). Where the mean is
// large beside the spread, the two products in b, and then b x and c, are nearly equal: their difference is
// rounding.
void line_in_x(const LayerNormBackward::Problem& p, const LayerNormBackward::Input& in,
               LayerNormBackward::Output& out) {
  std::ranges::fill(out.dgamma, 0.0F);
  std::ranges::fill(out.dbeta, 0.0F);
  for (Index r = 0; r < p.rows; ++r) {
    const float* dy = in.dy.data() + r * p.cols;
    const float* x = in.x.data() + r * p.cols;
    const float mean = in.mean[r], a = in.rstd[r], share = 1 / static_cast<float>(p.cols);
    float of_w = 0, of_w_x = 0;
    for (Index j = 0; j < p.cols; ++j) {
      const float w = dy[j] * in.gamma[j];
      of_w += w;
      of_w_x += w * x[j];
      out.dgamma[j] += dy[j] * ((x[j] - mean) * a);
      out.dbeta[j] += dy[j];
    }
    const float b = (of_w * mean - of_w_x) * a * a * a * share;
    const float c = -b * mean - of_w * a * share;
    for (Index j = 0; j < p.cols; ++j) out.dx[r * p.cols + j] = a * dy[j] * in.gamma[j] + b * x[j] + c;
  }
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>({.name = "sum_of_squares",
                    .summary = "one pass for sum and sum of squares",
                    .known_bad = "common in fused kernels: cancels where the mean is large beside the spread",
                    .run = sum_of_squares});
  r.add<LayerNorm>({.name = "welford_in_single",
                    .summary = "Welford's updates in single precision",
                    .known_bad = "the LayerNorm of several frameworks: the mean is rounded at every update",
                    .run = welford_in_single});
  r.add<LayerNormBackward>(
      {.name = "line_in_x",
       .summary = "dx as one line in x for each row",
       .known_bad = "PyTorch's CPU kernel: cancels where the mean is large beside the spread",
       .run = line_in_x});
}};

}  // namespace
}  // namespace assay
