// The idea: one state for all batches, made before the first. Each batch clears only its own rows: no
// allocation, and no pages that the system has to clear as well.

#include "assay/ops/training_loop.hpp"

#include <algorithm>

namespace assay::state_buffers {

const Register registered{[](Registry& r) {
  const auto prepare = [](const StateBuffers::Problem& p, const auto&, const Context&) {
    return [p, state = Buffer<float>(std::min(p.batch, p.samples) * p.hidden)](const auto& in,
                                                                               auto& out) mutable {
      for (Index first = 0; first < p.samples; first += p.batch) {
        const Index rows = std::min(p.batch, p.samples - first);
        std::fill_n(state.data(), rows * p.hidden, 0.0F);
        advance(p, in.x.data() + first * p.hidden, rows, state.data(), out.y.data() + first * p.hidden);
      }
    };
  };
  r.add<StateBuffers>(
      {.name = "reused", .summary = "one state for all batches, zeroed for each", .prepare = prepare});
}};

}  // namespace assay::state_buffers
