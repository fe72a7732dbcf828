// The idea: results go past the caches, so that a step over more parameters than the caches hold does not
// evict its next operands. It exists to be measured: p, m and v have just been read, so their lines are in
// the cache, and a store past the caches saves no read, unlike where the output is another array.

#include "adamw/step.hpp"

#include "assay/registry.hpp"

namespace assay::adamw {
namespace {

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    const auto prepare = [](const auto& problem, const auto&, const Context&) {
      return [k = step_constants<Formula>(problem.t), n = problem.n, function = best_of(tiers()).streaming](
                 const auto& in, auto& out) { function(k, arrays(in, out), 0, n); };
    };
    r.add<AdamW<Formula>>({.name = "streaming",
                           .summary = "the best SIMD tier, results stored past the caches",
                           .prepare = prepare});
  });
}};

}  // namespace
}  // namespace assay::adamw
