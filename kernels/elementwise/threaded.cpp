// The idea: the rows of the best SIMD tier, divided evenly among threads that are already running. This helps
// if one core cannot use all the bandwidth of the caches or of memory.

#include "elementwise/loop_nest.hpp"
#include "team.hpp"

namespace assay::elementwise {
namespace {

/// Elements below which one thread computes all. Measured on two cores of a Zen 5, one thread in units of
/// two, multiply and relu: 0.80 and 0.65 at 32,768 elements, 0.90 and 0.79 at 65,536, 1.57 and 1.17 at
/// 73,728, 2.4 and 2.1 at 131,072.
constexpr Index break_even = 65536;

template <class Formula>
auto prepare(const typename Elementwise<Formula>::Problem& p, const typename Elementwise<Formula>::Input&,
             const Context& context) {
  const int threads = started_team(context, p.n * p.c * p.h * p.w < break_even);
  return [plan = plan<Formula>(p, threads), threads, function = best_of(tiers()).function](const auto& in,
                                                                                           auto& out) {
    const Operands operands = plan.operands(in, out);
    on_team(threads, threads,
            [&](int part) { function(plan.nest, share(plan.nest, part, threads), operands); });
  };
}

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    add_threaded<Elementwise<Formula>>(r, "the best SIMD tier, rows divided among OpenMP threads",
                                       prepare<Formula>);
  });
}};

}  // namespace
}  // namespace assay::elementwise
