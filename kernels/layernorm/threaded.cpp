// The idea: the rows of the best SIMD tier, divided evenly among threads that are already running. Rows do
// not depend on each other, and threads meet once, at the end.

#include "layernorm/rows.hpp"
#include "team.hpp"

#include "assay/registry.hpp"

#include <algorithm>

namespace assay::layernorm {
namespace {

/// Elements below which one thread does it all, because a fork and join costs more than it saves.
constexpr Index break_even = 65536;

template <class Op>
auto prepare(const Problem& p, const typename Op::Input&, const Context& context) {
  const bool alone = p.rows * p.cols < break_even;
  const int threads = alone ? 1 : static_cast<int>(std::min<Index>(context.threads, p.rows));
  // The first fork of a process starts the threads, which must not happen inside a timed call.
  on_team(threads, threads, [](int) {});
  return [p, threads, function = best_tier<Op>().function](const auto& in, auto& out) {
    const Operands on = operands(p, in, out);
    on_team(threads, threads,
            [&](int part) { function(on, p.rows * part / threads, p.rows * (part + 1) / threads); });
  };
}

const Register registered{[](Registry& r) {
  for_each_norm([&]<class Op>() {
    r.add<Op>({.name = "threaded",
               .summary = "the best SIMD tier, rows divided among OpenMP threads",
               .threaded = true,
               .prepare = prepare<Op>});
  });
}};

}  // namespace
}  // namespace assay::layernorm
