// The idea: planes in memory order, and sixteen independent sums per plane, which the compiler vectorises. A
// single sum would wait for each addition and may not be reordered.

#include "assay/ops/pointwise.hpp"

namespace assay::channel_sum {
namespace {

float plane_sum(const float* dz, Index count) {
  constexpr Index parts = 16;
  float sums[parts] = {};
  Index i = 0;
  for (; i + parts <= count; i += parts) {
    for (Index k = 0; k < parts; ++k) sums[k] += dz[i + k];
  }
  float total = 0;
  for (const float sum : sums) total += sum;
  for (; i < count; ++i) total += dz[i];
  return total;
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
      {.name = "flat", .summary = "sixteen partial sums per plane, compiler-vectorised", .run = run});
}};

}  // namespace
}  // namespace assay::channel_sum
