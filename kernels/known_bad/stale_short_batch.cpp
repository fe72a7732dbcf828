// Common when the allocation per batch is taken out of a loop: the state is made anew when the size of a
// batch changes and zeroed when it does not, but the short last batch gets the first rows of the old state,
// since it fits. Those hold what the batch before left. Where the batches divide the samples nothing is
// wrong.

#include "assay/ops/state_buffers.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <vector>

namespace assay {
namespace {

void run(const StateBuffers::Problem& p, const StateBuffers::Input& in, StateBuffers::Output& out) {
  std::vector<float> state(static_cast<std::size_t>(std::min(p.batch, p.samples) * p.hidden), 0.0F);
  for (Index first = 0; first < p.samples; first += p.batch) {
    const Index rows = std::min(p.batch, p.samples - first);
    if (rows == p.batch) std::ranges::fill(state, 0.0F);
    state_buffers::advance(p, in.x.data() + first * p.hidden, rows, state.data(),
                           out.y.data() + first * p.hidden);
  }
}

const Register registered{[](Registry& r) {
  r.add<StateBuffers>(
      {.name = "stale_short_batch",
       .summary = "one state for all batches, zeroed for full ones",
       .known_bad = "PyTorch LSTM task analysis: the short last batch starts from the state before",
       .run = run});
}};

}  // namespace
}  // namespace assay
