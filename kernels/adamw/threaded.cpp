// The idea: the best SIMD tier on every thread. This helps if a thread's share fits caches of its own, or if
// one core cannot use all the bandwidth of memory.

#include "adamw/step.hpp"
#include "team.hpp"

#include "assay/registry.hpp"

namespace assay::adamw {
namespace {

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    const auto prepare = [](const auto& problem, const auto&, const Context& context) {
      const int threads = problem.n < break_even ? 1 : context.threads;
      start_team(threads);
      return [=, k = step_constants<Formula>(problem.t), n = problem.n, function = best_of(tiers()).function](
                 const auto& in, auto& out) {
        const Arrays at = arrays(in, out);
        on_team(threads, threads, [&](int part) {
          function(k, at, share_begin(n, part, threads), share_begin(n, part + 1, threads));
        });
      };
    };
    r.add<AdamW<Formula>>({.name = "threaded",
                           .summary = "the best SIMD tier, parameters divided among OpenMP threads",
                           .threaded = true,
                           .prepare = prepare});
  });
}};

}  // namespace
}  // namespace assay::adamw
