// The idea: the best SIMD tier, with stores past the caches. An ordinary store reads the line that it
// overwrites, which is wasted traffic if the outputs do not stay in a cache. If they would stay, this variant
// loses them. Chains run in one pass.

#include "pointwise/arrays.hpp"

namespace assay::pointwise {

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    r.add<Pointwise<Formula>>({.name = "streaming",
                               .summary = "the best SIMD tier, outputs stored past the caches",
                               .prepare = [](const auto& p, const auto&, const Context&) {
                                 return kernel_of<Formula>(best_of(tiers()).functions<Formula>().streaming,
                                                           p);
                               }});
  });
}};

}  // namespace assay::pointwise
