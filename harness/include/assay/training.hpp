/// Networks that can be trained for whole epochs: how the harness drives what is made of the kernels.
#pragma once

#include "assay/problem.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace assay {

/// One epoch: what is trained, on which records, and how they are loaded.
struct TrainingPlan {
  std::string network = "classifier";  ///< or `transformer`
  Index channels = 3, side = 16;       ///< of the images, which are square
  Index width = 16;                    ///< filters of the classifier, numbers per token of the transformer
  std::string pixels = "bytes";        ///< of a record: `bytes` or `floats`
  std::string variant = "composed";    ///< of train_step: or `naive`
  int threads = 1;                     ///< of a step
  Index samples = 0, batch = 0;        ///< both at least 1
  bool drop_last = false;
  Index workers = 0;   ///< threads that load; 0: the training loop does
  Index prefetch = 2;  ///< batches under way per worker
  bool in_order = true;
  bool cold = false;  ///< the records' pages are dropped from memory before each run, at first
  Index validation_samples =
      0;                       ///< records behind the first `samples`: forward and loss, after the last step
  Index checkpoint_every = 0;  ///< steps between writes of parameters and moments; 0: none
  double batch_delay =
      0;  ///< seconds that making a batch sleeps, as on a slow disk: a known answer for tuning
  std::uint64_t seed = 42;        ///< of parameters, order and generated records
  std::filesystem::path records;  ///< an existing record file; empty for a generated one

  /// Steps of an epoch; the last may be smaller.
  Index steps() const { return drop_last ? samples / batch : (samples + batch - 1) / batch; }
  /// Samples in step i.
  Index size(Index i) const { return batch < samples - i * batch ? batch : samples - i * batch; }
  /// Batches of validation; the last may be smaller.
  Index validation_steps() const { return (validation_samples + batch - 1) / batch; }
  /// Samples in batch i of validation.
  Index validation_size(Index i) const {
    const Index left = validation_samples - i * batch;
    return batch < left ? batch : left;
  }
  /// Checkpoints in an epoch.
  Index checkpoints() const { return checkpoint_every > 0 ? steps() / checkpoint_every : 0; }
};

/// Times of one step, in seconds since the run began or as durations. Batches are numbered as the order of
/// the epoch has them; out of order, step i need not train batch i.
struct StepTimes {
  Index batch = 0;
  double begin = 0, end = 0;  ///< a step begins where the one before ended, or the checkpoint after that
  double wait = 0;            ///< until the batch was there; without workers, until it was made
  double forward = 0, loss = 0, backward = 0, clip = 0, optimize = 0;
  double load_begin = 0, load = 0;  ///< of making the batch: reading and decoding
  int worker = 0;                   ///< made the batch, from 1; 0 is the training loop
  Index ready = 0;                  ///< batches that were made and not yet taken when the step began
  float mean_loss = 0;

  double computed() const { return forward + loss + backward + clip + optimize; }
  /// Returns the time that no phase accounts for.
  double other() const { return end - begin - wait - computed(); }
};

/// Times of one checkpoint, in seconds since the run began.
struct CheckpointTimes {
  Index step = 0;  ///< steps done before it
  double begin = 0, end = 0;
};

/// Times of one batch of validation, in seconds since the run began or as durations. The training loop makes
/// the batch itself, whatever workers the steps had.
struct ValidationTimes {
  double begin = 0, end = 0;
  double load = 0, forward = 0, loss = 0;
  float mean_loss = 0;
};

/// A whole epoch, in the order in which it came. Time that is in none of them is start-up and the end.
struct EpochTimes {
  double seconds = 0;
  std::vector<StepTimes> steps;
  std::vector<CheckpointTimes> checkpoints;
  std::vector<ValidationTimes> validation;

  double checkpoint_seconds() const {
    double out = 0;
    for (const CheckpointTimes& one : checkpoints) out += one.end - one.begin;
    return out;
  }
  double validation_seconds() const {
    double out = 0;
    for (const ValidationTimes& one : validation) out += one.end - one.begin;
    return out;
  }
};

/// Consecutive steps of an epoch.
struct StepRange {
  Index first = 0;
  Index steps = 0;
};

/// A plan with its records, network and buffers. For one thread.
class Training {
 public:
  virtual ~Training() = default;
  /// Loads otherwise from now on. The rest of the plan stays.
  virtual void load_with(Index workers, Index prefetch, bool in_order) = 0;
  /// Whether the records' pages are dropped from memory before each run from now on; if not, all are in
  /// memory and mapped.
  virtual void start_cold(bool cold) = 0;
  /// Drops them now.
  virtual void drop_pages() = 0;
  /// Pages of the records that are in memory, as a share of all. 0 where the system does not say.
  virtual double resident() const = 0;
  /// Trains on the batches of these steps from the same initial parameters as ever. Seconds from before the
  /// first worker is started until the last step is done and the workers have come to rest. Fewer steps are
  /// in `times` after `stop` said so. Throws Error when the records cannot be read, or were changed
  /// meanwhile.
  virtual double train(const StepRange& range, std::vector<StepTimes>& times,
                       const std::function<bool()>& stop) = 0;
  /// The epoch of the plan: its steps as train() takes them, a checkpoint after each checkpoint_every of them
  /// while workers go on, and validation after the last. `stop` is asked after each step and each batch of
  /// validation. Throws Error as train() does, and when a checkpoint cannot be written.
  virtual EpochTimes train_epoch(const std::function<bool()>& stop) = 0;
  /// Seconds of making single batches, one after the other in this thread, beside nothing.
  virtual std::vector<double> load_alone(Index batches) = 0;
  /// Steps on batches that were made before, beside nothing: wait, load and worker are 0.
  virtual std::vector<StepTimes> train_alone(Index steps) = 0;
  /// The first batches of validation, with the initial parameters.
  virtual std::vector<ValidationTimes> validate_alone(Index batches) = 0;
  /// Seconds of single checkpoints, one after the other, beside nothing.
  virtual std::vector<double> checkpoint_alone(Index count) = 0;
  /// Seconds of single batches and steps while `workers` make batches and drop them, without ever waiting:
  /// each of them one batch at least. Throws Error when a worker cannot be started or fails.
  struct Together {
    std::vector<double> load;
    std::vector<StepTimes> steps;
  };
  virtual Together together(Index workers, Index steps) = 0;
};

/// Throws Error naming the key of the plan that cannot be used.
using MakeTraining = std::unique_ptr<Training> (*)(const TrainingPlan&);

/// Announces how trainings are made, by a static object, as Register does with variants. There is one.
class TrainingMaker {
 public:
  explicit TrainingMaker(MakeTraining make) noexcept;
  /// Throws Error when the program has none.
  static std::unique_ptr<Training> made(const TrainingPlan& plan);
};

}  // namespace assay
