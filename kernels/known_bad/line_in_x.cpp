// Published: dx = a dy gamma + b x + c with b = (mean sum(w) - sum(w x)) rstd^3 / n and c = -b mean - sum(w)
// rstd / n, which saves the subtraction x - mean in both walks (w = dy gamma, a = rstd). Where the mean is
// large beside the spread, the two products in b and then b x and c are nearly equal, and what is left of
// their difference is rounding.

#include "assay/ops/layernorm_backward.hpp"
#include "assay/registry.hpp"

#include <algorithm>

namespace assay {
namespace {

void run(const LayerNormBackward::Problem& p, const LayerNormBackward::Input& in,
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
  r.add<LayerNormBackward>(
      {.name = "line_in_x",
       .summary = "dx as one line in x for each row",
       .known_bad = "PyTorch's CPU kernel: cancels where the mean is large beside the spread",
       .run = run});
}};

}  // namespace
}  // namespace assay
