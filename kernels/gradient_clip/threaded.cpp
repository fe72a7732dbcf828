// The idea: the best SIMD tier on every thread. It takes two forks and joins, since no thread can scale
// before all squares are summed. Sums are added in the order of the parts, so the result does not depend on
// which thread finishes first.

#include "gradient_clip/passes.hpp"

namespace assay::gradient_clip {

/// Parameters below which one thread computes all, as in elementwise/threaded.cpp.
constexpr Index break_even = 65536;

const Register registered{[](Registry& r) {
  const auto prepare = [](const GradientClip::Problem& p, const auto&, const Context& context) {
    const int threads = started_team(context, p.n < break_even);
    return [n = p.n, best = best_of(tiers()), sums = std::vector<double>(static_cast<std::size_t>(threads))](
               const auto& in, auto& out) mutable {
      out.norm[0] = clip(best, sums, in.g.data(), out.y.data(), n);
    };
  };
  add_threaded<GradientClip>(r, "the best SIMD tier, parameters divided among OpenMP threads", prepare);
}};

}  // namespace assay::gradient_clip
