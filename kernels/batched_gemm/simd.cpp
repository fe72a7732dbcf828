// The idea: all pairs have one shape, so the way to multiply them is decided once. The register tiles of
// `gemm` multiply a pair, a small one without blocks or copies.

#include "batched_gemm/plan.hpp"

namespace assay::batched_gemm {

const Register registered{[](Registry& r) {
  add_tiers<BatchedGemm>(
      r, blocked::tiers(),
      {.name = "simd", .summary = "one plan, register tiles of each pair, compiled for {}"},
      [](const blocked::Tier& tier, const Problem& p, const auto&) {
        const Plan plan(p, tier);
        return [plan, space = Buffer<float>(plan.space_floats)](const auto& in, auto& out) mutable {
          plan.run(in, out, 0, plan.problem.batch, space.data());
        };
      });
}};

}  // namespace assay::batched_gemm
