// The kernels of im2col and col2im, on one thread or on a team.
#pragma once

#include "im2col/plan.hpp"
#include "team.hpp"

#include <type_traits>

namespace assay::im2col {

template <class Op>
auto kernel_of(PartFunction* function, const Problem& p, int threads = 1) {
  constexpr bool to_col = std::is_same_v<Op, Im2col>;
  const auto direction = to_col ? Plan::Direction::to_col : Plan::Direction::to_image;
  return [plan = Plan(p, direction, threads), function, threads](const auto& in, auto& out) mutable {
    const View view = plan.view();
    const float* from = nullptr;
    float* to = nullptr;
    if constexpr (to_col) {
      from = in.image.data();
      to = out.col.data();
    } else {
      from = in.col.data();
      to = out.image.data();
    }
    on_team(threads, threads, [&](int part) { function(view, from, to, plan.scratch(part), part, threads); });
  };
}

}  // namespace assay::im2col
