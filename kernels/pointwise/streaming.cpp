// The idea: the best SIMD tier, with stores past the caches. An ordinary store reads the line that it
// overwrites, which is wasted traffic if the outputs do not stay in a cache. If they would stay, this variant
// loses them. Chains run in one pass.

#include "pointwise/arrays.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

namespace assay::pointwise {
namespace {

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    const auto prepare = [](const typename Pointwise<Formula>::Problem& p, const auto&, const Context&) {
      return [p, function = best_of(tiers()).functions<Formula>().streaming](const auto& in, auto& out) {
        function(operands<Formula>(p, in, out), 0, p.size());
      };
    };
    r.add<Pointwise<Formula>>({.name = "streaming",
                               .summary = "the best SIMD tier, outputs stored past the caches",
                               .prepare = prepare});
  });
}};

}  // namespace
}  // namespace assay::pointwise
