// The idea: the best SIMD tier, with stores past the caches. An ordinary store reads the line that it
// overwrites, a quarter of the traffic of z = x y. That is wasted if z does not stay in a cache. If z would
// stay, streaming loses it.

#include "elementwise/loop_nest.hpp"

namespace assay::elementwise {
namespace {

template <class Formula>
std::optional<std::string> unfit(const typename Elementwise<Formula>::Problem& p, const Context&) {
  if (p.beta != 0) return "z is read where beta is not 0, and then its lines are in the cache";
  const LoopNest nest = collapse(p.extents(), p.views(), Formula::unary);
  const bool dense = (nest.x[3] == 1 || nest.extent[3] == 1) && (Formula::unary || nest.y[3] <= 1);
  if (!dense) return "streams of whole vectors need operands that are dense along the rows of z";
  return std::nullopt;
}

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    r.add<Elementwise<Formula>>(
        {.name = "streaming",
         .summary = "the best SIMD tier, z stored past the caches",
         .prepare = [](const auto& p, const auto&,
                       const Context&) { return kernel_of(best_of(tiers()), plan<Formula>(p, 1), true); },
         .unfit = unfit<Formula>});
  });
}};

}  // namespace
}  // namespace assay::elementwise
