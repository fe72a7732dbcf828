// Common when waiting is found to be expensive: the numbers are read from where the queue writes them,
// without asking whether it has. What is printed is a step late, or two, and the last line of an epoch is
// missing a step. Here the reads come before the step that they belong to, so that it is the same in each
// call.

#include "assay/ops/loss_readback.hpp"
#include "assay/registry.hpp"

namespace assay {
namespace {

void run(const LossReadback::Problem& p, const LossReadback::Input& in, LossReadback::Output& out) {
  loss_readback::State state;
  std::uint64_t batch = 0;
  for (Index step = 0; step < p.steps; ++step) {
    out.loss[step / p.every] = state.loss;
    out.correct[step / p.every] = state.correct;
    state = loss_readback::after(state, in.seed[step], p.grain);
    batch = loss_readback::prepared(batch, p.host);
  }
  out.batch[0] = batch;
}

const Register registered{[](Registry& r) {
  r.add<LossReadback>({.name = "read_without_waiting",
                       .summary = "the state as it is when a line is printed",
                       .known_bad = "reads of an asynchronous result that do not wait for it: a step late",
                       .run = run});
}};

}  // namespace
}  // namespace assay
