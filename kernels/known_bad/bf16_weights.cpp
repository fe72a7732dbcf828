// Common where memory is short: weights are kept in bf16, without a master copy. An update of a thousandth of
// a weight is less than half the distance to the next bf16, and is rounded away: training stands still.

#include "assay/ops/gemm_bf16.hpp"
#include "assay/ops/mixed_precision.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace {

float in_bf16(float x) { return bf16::widen(bf16::round(x)); }

void run(const MixedPrecision::Problem& p, const MixedPrecision::Input& in, MixedPrecision::Output& out) {
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      float sum = 0;
      for (Index l = 0; l < p.k; ++l) sum += in_bf16(in.x[i * p.k + l]) * in_bf16(in.w[l * p.n + j]);
      out.y[i * p.n + j] = sum;
    }
  }
  for (Index l = 0; l < p.k; ++l) {
    for (Index j = 0; j < p.n; ++j) {
      float gradient = 0;
      for (Index i = 0; i < p.m; ++i) gradient += in_bf16(in.x[i * p.k + l]) * in_bf16(in.dy[i * p.n + j]);
      const float w = in_bf16(in.w[l * p.n + j]);
      out.w_next[l * p.n + j] = in_bf16(w - static_cast<float>(MixedPrecision::rate) * gradient);
    }
  }
}

const Register registered{[](Registry& r) {
  r.add<MixedPrecision>(
      {.name = "bf16_weights",
       .summary = "weights kept in bf16 as well",
       .known_bad = "pure bf16 training: updates below half a unit of bf16 are rounded away",
       .precision = "weights of bf16",
       .run = run});
}};

}  // namespace
}  // namespace assay
