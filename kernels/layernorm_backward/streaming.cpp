// The idea: the best SIMD tier with dx written past the caches. An ordinary store reads the line that it
// overwrites, a quarter of the traffic of dy, x and dx. That is wasted if dx leaves the caches before it is
// read. If the caches hold the working set, this variant is slow. Rows that do not start on a cache line are
// written through the caches.

#include "layernorm_backward/rows.hpp"

namespace assay::layernorm_backward {

const Register registered{[](Registry& r) {
  for_each_norm([&]<class Op>() {
    r.add<Op>({.name = "streaming",
               .summary = "the best SIMD tier, dx past the caches",
               .prepare = [](const Problem& p, const auto&, const Context&) {
                 return kernel_of(best_of(tiers()).function, p, true);
               }});
  });
}};

}  // namespace assay::layernorm_backward
