// Makes the network, the records and the trainer of a plan. All throw Error naming the unusable key or file.
#pragma once

#include "assay/ops/image_records.hpp"
#include "assay/ops/record_file.hpp"
#include "assay/ops/trainer.hpp"
#include "assay/training.hpp"

#include <memory>

namespace assay::train_step {

/// Returns the plan with its numbers checked: it need not come from a job file, whose reader checks them too.
const TrainingPlan& usable(const TrainingPlan& plan);

training::Network network_of(const TrainingPlan& plan);
training::ImageRecords records_of(const TrainingPlan& plan);
/// A generated file, or the user's file, whose records are compared with their checksum.
RecordFile file_of(const TrainingPlan& plan, const training::ImageRecords& records);
std::unique_ptr<training::Trainer> trainer_of(const TrainingPlan& plan, const training::Network& network);

}  // namespace assay::train_step
