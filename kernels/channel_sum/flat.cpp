// The idea: planes in memory order, and a vector of sums per plane, which a compiler has to be allowed.

#include "assay/ops/pointwise.hpp"

namespace assay::channel_sum {
namespace {

float plane_sum(const float* dz, Index count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index i = 0; i < count; ++i) sum += dz[i];
  return sum;
}

void run(const ElementwiseChannelBiasBackward::Problem& p, const ElementwiseChannelBiasBackward::Input& in,
         ElementwiseChannelBiasBackward::Output& out) {
  for (Index c = 0; c < p.c; ++c) out.db[c] = 0;
  for (Index n = 0; n < p.n; ++n) {
    for (Index c = 0; c < p.c; ++c) {
      out.db[c] += plane_sum(in.dz.data() + (n * p.c + c) * p.plane(), p.plane());
    }
  }
}

const Register registered{[](Registry& r) {
  r.add<ElementwiseChannelBiasBackward>(
      {.name = "flat", .summary = "a vector of partial sums per plane, compiler-vectorised", .run = run});
}};

}  // namespace
}  // namespace assay::channel_sum
