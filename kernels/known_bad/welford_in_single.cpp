// Published: Welford's one-pass updates in single precision, "for stability". Each update rounds the mean; of
// a mean that is large beside the spread the rounding is as large as what the squares are made of. The plain
// two-pass formula rounds the mean once and is closer.

#include "assay/ops/layernorm.hpp"
#include "assay/registry.hpp"

#include <cmath>

namespace assay {
namespace {

void run(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = in.x.data() + r * p.cols;
    float* y = out.y.data() + r * p.cols;
    float mean = 0, squares = 0;
    for (Index j = 0; j < p.cols; ++j) {
      const float before = x[j] - mean;
      mean += before / static_cast<float>(j + 1);
      squares += before * (x[j] - mean);
    }
    const float variance = squares / static_cast<float>(p.cols);
    const float rstd = 1 / std::sqrt(variance + static_cast<float>(layernorm::epsilon));
    for (Index j = 0; j < p.cols; ++j) y[j] = (x[j] - mean) * rstd * in.gamma[j] + in.beta[j];
    out.mean[r] = mean;
    out.rstd[r] = rstd;
  }
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>({.name = "welford_in_single",
                    .summary = "Welford's updates in single precision",
                    .known_bad = "the LayerNorm of several frameworks: the mean is rounded at every update",
                    .run = run});
}};

}  // namespace
}  // namespace assay
