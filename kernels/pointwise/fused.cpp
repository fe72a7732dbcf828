// The idea: a chain in one pass. Numbers between its operations stay in registers, which saves writing and
// reading an array.

#include "pointwise/arrays.hpp"

namespace assay::pointwise {
namespace {

template <Chain Formula>
void add(Registry& r) {
  r.add<Pointwise<Formula>>({.name = "fused",
                             .summary = "the best SIMD tier, one pass for the chain",
                             .prepare = [](const auto& p, const auto&, const Context&) {
                               return kernel_of<Formula>(best_of(tiers()).functions<Formula>().plain, p);
                             }});
}

const Register registered{[](Registry& r) {
  add<BiasGelu>(r);
  add<ScaleAddRelu>(r);
}};

}  // namespace
}  // namespace assay::pointwise
