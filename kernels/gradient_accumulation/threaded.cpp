// The idea: the best SIMD tier on every thread, with a fork and join per micro-batch, since they come one by
// one.

#include "gradient_accumulation/sweeps.hpp"
#include "team.hpp"

namespace assay::gradient_accumulation {

/// Parameters below which one thread computes all, as in elementwise/threaded.cpp.
constexpr Index break_even = 65536;

const Register registered{[](Registry& r) {
  const auto prepare = [](const GradientAccumulation::Problem& p, const auto&, const Context& context) {
    return [n = p.n, weights = rounded_weights(p), threads = started_team(context, p.n < break_even),
            function = best_of(tiers()).function](const auto& in, auto& out) {
      for (std::size_t j = 0; j < weights.size(); ++j) {
        const float* g = in.g.data() + static_cast<Index>(j) * n;
        on_shares(threads, n, [&](Index first, Index last) {
          function(weights[j], j == 0, g, out.sum.data(), first, last);
        });
      }
    };
  };
  add_threaded<GradientAccumulation>(r, "the best SIMD tier, parameters divided among OpenMP threads",
                                     prepare);
}};

}  // namespace assay::gradient_accumulation
