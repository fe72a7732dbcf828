// The idea: a chain in one pass. Numbers between its operations stay in registers, which saves writing and
// reading an array.

#include "pointwise/arrays.hpp"
#include "tiers.hpp"

#include "assay/registry.hpp"

namespace assay::pointwise {
namespace {

template <Chain Formula>
void add(Registry& r) {
  using Op = Pointwise<Formula>;
  const auto prepare = [](const typename Op::Problem& p, const auto&, const Context&) {
    return [p, function = best_of(tiers()).functions<Formula>().plain](const auto& in, auto& out) {
      function(operands<Formula>(p, in, out), 0, p.size());
    };
  };
  r.add<Op>({.name = "fused", .summary = "the best SIMD tier, one pass for the chain", .prepare = prepare});
}

const Register registered{[](Registry& r) {
  add<BiasGelu>(r);
  add<ScaleAddRelu>(r);
}};

}  // namespace
}  // namespace assay::pointwise
