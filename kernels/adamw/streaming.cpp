// The idea: results go past the caches, so that a step over more parameters than the caches hold does not
// evict its next operands. It exists to be measured: p, m and v have just been read, so their lines are in
// the cache, and a store past the caches saves no read, unlike where the output is another array.

#include "adamw/step.hpp"

namespace assay::adamw {

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    r.add<AdamW<Formula>>({.name = "streaming",
                           .summary = "the best SIMD tier, results stored past the caches",
                           .prepare = [](const auto& p, const auto&, const Context&) {
                             return kernel_of<Formula>(best_of(tiers()).streaming, p);
                           }});
  });
}};

}  // namespace assay::adamw
