// The networks of train_step, composed from the best tiers of the other operations, on one thread.
#pragma once

#include "assay/ops/model.hpp"

namespace assay::train_step {

std::unique_ptr<training::Model<float>> composed_classifier(const training::Network& network);
std::unique_ptr<training::Model<float>> composed_transformer(const training::Network& network);

}  // namespace assay::train_step
