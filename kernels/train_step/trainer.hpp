// A trainer made of the best tiers of the other operations: what `composed` times, and a driver of whole
// epochs runs.
#pragma once

#include "assay/operation.hpp"
#include "assay/ops/trainer.hpp"

namespace assay::train_step {

/// Images of a batch are divided among Context::threads, as far as each has work for.
std::unique_ptr<training::Trainer> composed_trainer(const training::Network& network, const Context& context);

}  // namespace assay::train_step
