// A trainer composed from the best tiers of the other operations. `composed` times it; a driver runs whole
// epochs with it.
#pragma once

#include "assay/operation.hpp"
#include "assay/ops/trainer.hpp"

namespace assay::train_step {

/// Divides the images of a batch among Context::threads, as far as each thread has enough work.
std::unique_ptr<training::Trainer> composed_trainer(const training::Network& network, const Context& context);

}  // namespace assay::train_step
