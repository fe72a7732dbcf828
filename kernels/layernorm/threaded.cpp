// The idea: the rows of the best SIMD tier, divided evenly among threads that are already running. Rows do
// not depend on each other; threads meet once, at the end.

#include "layernorm/rows.hpp"
#include "team.hpp"

namespace assay::layernorm {
namespace {

/// Elements below which one thread computes all. Measured on two cores of a Zen 5, one thread in units of
/// two, layernorm: 0.79 at 64 x 768, 0.97 at 97 x 768, 1.08 at 128 x 768, 1.24 at 171 x 768; 0.91 at 384 x
/// 256, 1.12 at 512 x 256. Where two rows of x and y, gamma and beta leave the first-level cache, an element
/// takes 1.7 times as long: 1.48 at 17 x 5000 on a Zen 4.
Index break_even(Index cols) {
  return 4.0 * sizeof(float) * static_cast<double>(cols) > caches().first ? 65536 : 98304;
}

template <class Op>
auto prepare(const Problem& p, const typename Op::Input&, const Context& context) {
  const Index elements = p.rows * p.cols;
  constexpr Index arrays = requires(typename Op::Input in) { in.r; }
  ? 4 : 2;
  const int threads = started_team(context, elements < break_even(p.cols), p.rows);
  const bool stream = streams(static_cast<double>(arrays * elements) * sizeof(float));
  return [p, threads, stream, function = best_of(tiers()).function](const auto& in, auto& out) {
    const Operands on = operands(p, in, out, stream);
    on_rows(threads, p.rows, [&](Index first, Index last) { function(on, first, last); });
  };
}

const Register registered{[](Registry& r) {
  for_each_norm([&]<class Op>() {
    add_threaded<Op>(r, "the best SIMD tier, rows divided among OpenMP threads", prepare<Op>);
  });
}};

}  // namespace
}  // namespace assay::layernorm
