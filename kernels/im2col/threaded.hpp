// The kernels of im2col and col2im, on one thread or on a team.
#pragma once

#include "im2col/plan.hpp"
#include "team.hpp"

namespace assay::im2col {

/// The kernel of started threads.
template <class Op>
auto kernel_of(PartFunction* function, const Problem& p, int threads = 1) {
  return [plan = Plan(p, direction<Op>, threads), function, threads](const auto& in, auto& out) mutable {
    const View view = plan.view();
    with_arrays(in, out, [&](const float* from, float* to) {
      on_team(threads, threads,
              [&](int part) { function(view, from, to, plan.scratch(part), part, threads); });
    });
  };
}

}  // namespace assay::im2col
