// The idea: the best SIMD tier on every thread. This helps if a thread's share fits caches of its own, or if
// one core cannot use all the bandwidth of memory.

#include "adamw/step.hpp"
#include "team.hpp"

namespace assay::adamw {

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    const auto prepare = [](const auto& p, const auto&, const Context& context) {
      return [k = step_constants<Formula>(p.t), n = p.n, threads = started_team(context, p.n < break_even),
              function = best_of(tiers()).function](const auto& in, auto& out) {
        const Arrays at = arrays(in, out);
        on_shares(threads, n, [&](Index first, Index last) { function(k, at, first, last); });
      };
    };
    add_threaded<AdamW<Formula>>(r, "the best SIMD tier, parameters divided among OpenMP threads", prepare);
  });
}};

}  // namespace assay::adamw
