// The idea: all pairs have one shape, so the way to multiply them is decided once. The register tiles of
// `gemm` multiply a pair, a small one without blocks or copies.

#include "batched_gemm/plan.hpp"

#include "assay/registry.hpp"

#include <memory>

namespace assay::batched_gemm {
namespace {

const Register registered{[](Registry& r) {
  for (const blocked::Tier& tier : blocked::tiers()) {
    r.add<BatchedGemm>({.name = "simd@" + tier.name,
                        .summary = "one plan, register tiles of each pair, compiled for " + tier.name,
                        .prepare =
                            [tier](const Problem& p, const BatchedGemm::Input&, const Context&) {
                              const Plan plan(p, tier);
                              const auto space = std::make_shared<Buffer<float>>(plan.space_floats);
                              return [plan, space](const BatchedGemm::Input& in, BatchedGemm::Output& out) {
                                plan.run(in, out, 0, plan.problem.batch, space->data());
                              };
                            },
                        .unfit = [unfit = tier.unfit](const Problem&, const Context&) { return unfit; }});
  }
}};

}  // namespace
}  // namespace assay::batched_gemm
