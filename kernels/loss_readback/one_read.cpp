// An idea that helps little: read both numbers at once, which halves the reads. The second read found the
// queue empty and did not wait; the first one still waits in each step.

#include "assay/ops/logging.hpp"

#include <memory>

namespace assay::loss_readback {

const Register registered{[](Registry& r) {
  const auto prepare = [](const LossReadback::Problem& p, const auto&, const Context&) {
    return [p, queue = std::make_shared<Queue>()](const LossReadback::Input& in, LossReadback::Output& out) {
      queue->restart(in.seed.data(), p.grain);
      std::uint64_t batch = 0;
      for (Index step = 0; step < p.steps; ++step) {
        queue->begin(1);
        queue->drain();
        const State state = queue->state();
        out.loss[step / p.every] = state.loss;
        out.correct[step / p.every] = state.correct;
        batch = prepared(batch, in.seed[step], p.host);
      }
      out.batch[0] = batch;
    };
  };
  r.add<LossReadback>({.name = "one_read",
                       .summary = "waits for the queue once in each step",
                       .helpers = LossReadback::one_queue,
                       .prepare = prepare});
}};

}  // namespace assay::loss_readback
