// The idea: the best SIMD tier with dx written past the caches, as layernorm/streaming.cpp writes y. An
// ordinary store is a quarter of the traffic of dy, x and dx.

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
