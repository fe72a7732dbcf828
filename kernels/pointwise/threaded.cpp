// The idea: the best SIMD tier on every thread, in one pass. This helps if the formula costs more than its
// bytes, or if one core cannot use all the bandwidth of the caches or of memory.

#include "elementwise/loop_nest.hpp"
#include "pointwise/arrays.hpp"
#include "team.hpp"

namespace assay::pointwise {
namespace {

/// Elements below which one thread computes all. Measured on two cores of a Zen 5, one thread in units of
/// two (conditions: README.md): gelu_backward 0.9 at 16,384 elements, 1.2 at 32,768 and 1.5 at 65,536;
/// sigmoid 0.8 at 32,768 and 1.2 at 65,536; relu_backward 1.0 at 65,536 and 1.6 at 131,072;
/// multiply_backward 0.8 at 32,768 and 1.9 at 65,536.
template <class Formula>
constexpr Index break_even = long_formula<Formula> ? 32768 : 65536;

template <class Formula>
auto prepare(const typename Pointwise<Formula>::Problem& p, const typename Pointwise<Formula>::Input&,
             const Context& context) {
  const int threads = started_team(context, p.size() < break_even<Formula>);
  const Cost cost = Pointwise<Formula>::cost(p);
  const Functions functions = best_of(tiers()).functions<Formula>();
  const bool stream = elementwise::streaming_pays(cost.bytes_read + cost.bytes_written, p.size(), threads);
  return [p, threads, function = stream ? functions.streaming : functions.plain](const auto& in, auto& out) {
    const Operands on = operands<Formula>(p, in, out);
    on_shares(threads, p.size(), [&](Index first, Index last) { function(on, first, last); });
  };
}

const Register registered{[](Registry& r) {
  for_each_formula([&]<class Formula>(Formula) {
    add_threaded<Pointwise<Formula>>(r, "the best SIMD tier, elements divided among OpenMP threads",
                                     prepare<Formula>);
  });
}};

}  // namespace
}  // namespace assay::pointwise
