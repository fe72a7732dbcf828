// Networks and a trainer composed from the best tiers of the other operations. `composed` times the trainer;
// a driver runs whole epochs with it.
#pragma once

#include "assay/operation.hpp"
#include "assay/ops/model.hpp"
#include "assay/ops/trainer.hpp"

namespace assay::train_step {

/// The networks on one thread.
std::unique_ptr<training::Model<float>> composed_classifier(const training::Network& network);
std::unique_ptr<training::Model<float>> composed_transformer(const training::Network& network);

/// Divides the images of a batch among Context::threads, as far as each thread has enough work.
std::unique_ptr<training::Trainer> composed_trainer(const training::Network& network, const Context& context);

}  // namespace assay::train_step
