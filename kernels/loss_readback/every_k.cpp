// The idea: the state stays with the queue and is read only when a line is printed. In between, the loop's
// own work runs beside the steps, and the next step is queued before the last one is done.

#include "assay/ops/logging.hpp"

#include <algorithm>
#include <memory>

namespace assay::loss_readback {

const Register registered{[](Registry& r) {
  const auto prepare = [](const LossReadback::Problem& p, const auto&, const Context&) {
    return [p, queue = std::make_shared<Queue>()](const LossReadback::Input& in, LossReadback::Output& out) {
      queue->restart(in.seed.data(), p.grain);
      std::uint64_t batch = 0;
      for (Index line = 0; line < p.lines(); ++line) {
        const Index end = std::min(p.steps, (line + 1) * p.every);
        for (Index step = line * p.every; step < end; ++step) {
          queue->begin(1);
          batch = prepared(batch, in.seed[step], p.host);
        }
        queue->drain();
        const State state = queue->state();
        out.loss[line] = state.loss;
        out.correct[line] = state.correct;
      }
      out.batch[0] = batch;
    };
  };
  r.add<LossReadback>({.name = "every_k",
                       .summary = "waits for the queue where a line is printed",
                       .helpers = LossReadback::one_queue,
                       .prepare = prepare});
}};

}  // namespace assay::loss_readback
