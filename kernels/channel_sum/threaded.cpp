// The idea: the best SIMD tier on every thread, channels divided among them. No two threads add to one
// number, so the result does not depend on the number of threads. Limit: threads beyond the channels are
// idle.

#include "channel_sum/planes.hpp"
#include "team.hpp"

namespace assay::channel_sum {
namespace {

/// Elements below which one thread computes all. Measured on two cores of a Zen 5, one thread in units of
/// two (conditions: README.md): 0.7 at 65,536 elements, 0.9 at 131,072, 1.4 at 262,144.
constexpr Index break_even = 262144;

const Register registered{[](Registry& r) {
  const auto prepare = [](const auto& p, const auto&, const Context& context) {
    return [p, threads = started_team(context, p.n * p.c * p.plane() < break_even),
            function = best_of(tiers()).function](const auto& in, auto& out) {
      const Arrays at = arrays(p, in, out);
      on_rows(threads, p.c, [&](Index first, Index last) { function(at, first, last); });
    };
  };
  add_threaded<ElementwiseChannelBiasBackward>(r, "the best SIMD tier, channels divided among OpenMP threads",
                                               prepare);
}};

}  // namespace
}  // namespace assay::channel_sum
