// The idea: the best SIMD tier on every thread. It takes two forks and joins, since no thread can scale
// before all squares are summed. Sums are added in the order of the parts, so the result does not depend on
// which thread finishes first.

#include "gradient_clip/passes.hpp"
#include "team.hpp"

namespace assay::gradient_clip {
namespace {

/// Parameters below which one thread computes all, as in elementwise/threaded.cpp.
constexpr Index break_even = 65536;

const Register registered{[](Registry& r) {
  const auto prepare = [](const GradientClip::Problem& p, const auto&, const Context& context) {
    const int threads = started_team(context, p.n < break_even);
    return [threads, n = p.n, best = best_of(tiers()),
            sums = std::vector<double>(static_cast<std::size_t>(threads))](const auto& in,
                                                                           auto& out) mutable {
      on_team(threads, threads, [&](int part) {
        sums[static_cast<std::size_t>(part)] =
            best.squares(in.g.data(), share_begin(n, part, threads), share_begin(n, part + 1, threads));
      });
      double total = 0;
      for (const double sum : sums) total += sum;
      const float norm = norm_of(total), kept = GradientClip::kept(norm);
      on_shares(threads, n,
                [&](Index first, Index last) { best.scale(kept, in.g.data(), out.y.data(), first, last); });
      out.norm[0] = norm;
    };
  };
  add_threaded<GradientClip>(r, "the best SIMD tier, parameters divided among OpenMP threads", prepare);
}};

}  // namespace
}  // namespace assay::gradient_clip
