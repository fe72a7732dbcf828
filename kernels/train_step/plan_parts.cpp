#include "train_step/plan_parts.hpp"

#include "train_step/trainer.hpp"

#include "assay/error.hpp"

#include <algorithm>
#include <string>

namespace assay::train_step {

using training::ImageRecords;

const TrainingPlan& usable(const TrainingPlan& plan) {
  const auto at_least = [](const char* key, Index value, Index least) {
    if (value >= least) return;
    throw Error(key, "is " + std::to_string(value), "give at least " + std::to_string(least));
  };
  at_least("batch", plan.batch, 1);
  if (plan.samples < plan.batch) {
    throw Error(
        "samples",
        "is " + std::to_string(plan.samples) + ", fewer than a batch of " + std::to_string(plan.batch),
        "give more samples or a smaller batch");
  }
  at_least("workers", plan.workers, 0);
  at_least("prefetch", plan.prefetch, 1);
  at_least("validation_samples", plan.validation_samples, 0);
  at_least("checkpoint_every", plan.checkpoint_every, 0);
  if (!(plan.batch_delay >= 0)) {
    throw Error("batch_delay", "is " + std::to_string(plan.batch_delay), "give seconds, 0 for none");
  }
  return plan;
}

training::Network network_of(const TrainingPlan& plan) {
  const auto kind = std::ranges::find(training::kinds, plan.network);
  if (kind == training::kinds.end()) {
    throw Error("network", "is '" + plan.network + "'", "name one of: classifier, transformer");
  }
  training::Network out{.kind = static_cast<training::Kind>(kind - training::kinds.begin()),
                        .channels = plan.channels,
                        .side = plan.side,
                        .width = plan.width};
  training::require_valid(out);
  return out;
}

ImageRecords records_of(const TrainingPlan& plan) {
  if (plan.pixels != "bytes" && plan.pixels != "floats") {
    throw Error("pixels", "is '" + plan.pixels + "'", "name one of: bytes, floats");
  }
  return {.channels = plan.channels,
          .side = plan.side,
          .format = plan.pixels == "bytes" ? training::PixelFormat::bytes : training::PixelFormat::floats};
}

RecordFile file_of(const TrainingPlan& plan, const ImageRecords& records) {
  const Index needed = plan.samples + plan.validation_samples;
  if (plan.records.empty()) {
    const auto where = plan.cold ? RecordFile::Scratch::disk : RecordFile::Scratch::memory;
    return RecordFile::scratch(where, {.records = needed, .bytes = records.bytes()},
                               training::separable_images(records, plan.seed));
  }
  RecordFile out(plan.records);
  const RecordShape shape = out.shape();
  if (shape.bytes != records.bytes()) {
    throw Error(plan.records.string(),
                "holds records of " + std::to_string(shape.bytes) + " bytes, and such images take " +
                    std::to_string(records.bytes()),
                "correct channels, side or pixels of the job");
  }
  if (shape.records < needed) {
    throw Error(plan.records.string(),
                "holds " + std::to_string(shape.records) + " records, and " + std::to_string(plan.samples) +
                    " samples and " + std::to_string(plan.validation_samples) +
                    " of validation are asked for",
                "set samples and validation_samples to that together, or less");
  }
  out.verify();
  return out;
}

std::unique_ptr<training::Trainer> trainer_of(const TrainingPlan& plan, const training::Network& network) {
  if (plan.variant == "naive") return training::naive_trainer(network);
  if (plan.variant == "composed") return composed_trainer(network, {.threads = plan.threads});
  throw Error("variant", "is '" + plan.variant + "'", "name one of: naive, composed");
}

}  // namespace assay::train_step
