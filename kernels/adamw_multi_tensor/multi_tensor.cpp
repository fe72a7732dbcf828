// The idea: one call for all tensors. Constants are computed once, and a further tensor costs the jump to its
// first parameter. A call per tensor pays powers, dispatch and a cold start for a few parameters each.

#include "adamw/step.hpp"

namespace assay::adamw {

const Register registered{[](Registry& r) {
  const auto prepare = [](const AdamWMultiTensor::Problem& problem, const auto&, const Context&) {
    return [k = step_constants<Paper>(problem.t), spans = AdamWMultiTensor::spans(problem),
            function = best_of(tiers()).function](const auto& in, auto& out) {
      const Arrays at = arrays(in, out);
      for (const auto& [begin, count] : spans) function(k, at, begin, begin + count);
    };
  };
  r.add<AdamWMultiTensor>({.name = "multi_tensor",
                           .summary = "one call over the list of tensors, the best SIMD tier",
                           .prepare = prepare});
}};

}  // namespace assay::adamw
