// The idea: the best tiers of the other hot paths, one after the other, on arrays that the one before left in
// the caches. A thread takes its images through both passes alone, with a gradient of its own. Threads meet
// three times for the passes and the sum of the gradients, and three times for clipping and AdamW.

#include "train_step/trainer.hpp"

#include "assay/ops/train_step.hpp"

namespace assay::train_step {
namespace {

Variant<TrainStep>::Kernel prepare(const TrainStep::Problem& p, const TrainStep::Input&,
                                   const Context& context) {
  const std::shared_ptr<training::Trainer> trainer = composed_trainer(TrainStep::network_of(p), context);
  trainer->prepare(p.batch);
  return [p, trainer](const TrainStep::Input& in, TrainStep::Output& out) {
    TrainStep::run(*trainer, p, in, out);
  };
}

const Register registered{[](Registry& r) {
  r.add<TrainStep>({.name = "composed",
                    .summary = "the best tiers of the other operations, images divided among threads",
                    .threaded = true,
                    .prepare = prepare});
}};

}  // namespace
}  // namespace assay::train_step
