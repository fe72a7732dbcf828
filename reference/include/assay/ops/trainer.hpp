/// Training a network step by step, in phases that a driver may time one by one. A driver owns the parameters
/// and the batches; loading is its own affair:
///
///   Parameters at(network, rng);
///   ImageBatch batch(records, n);                             // image_records.hpp
///   const auto trainer = naive_trainer(network);              // or composed_trainer() of the kernels
///   trainer->prepare(n);                                      // and for the size of a last, partial batch
///   for (Index t = 1; …; ++t) {
///     batch.decode(rows, n);                                  // rows as a loader hands them over
///     trainer->forward(at.state(), batch.view(n));
///     const float loss = trainer->loss();
///     trainer->backward(at.state());
///     const float norm = trainer->clip(at.state());
///     trainer->optimize(at.state(), t);
///   }
///
/// Nothing that a phase does is left to another: forward + loss + backward + clip + optimize is the step.
#pragma once

#include "assay/buffer.hpp"
#include "assay/ops/network.hpp"

#include <cstddef>
#include <memory>

namespace assay::training {

/// The vectors of a network in training, laid out as Segments say; they do not overlap.
struct State {
  float* p = nullptr;  ///< parameters
  float* m = nullptr;  ///< moments of AdamW
  float* v = nullptr;
  float* g = nullptr;  ///< the gradient of the last backward(), not clipped
};

/// A State with its memory.
struct Parameters {
  Buffer<float> p, m, v, g;

  /// Parameters by initialize(), moments of zero, the gradient unwritten.
  Parameters(const Network& network, Rng& rng);
  State state() { return {p.data(), m.data(), v.data(), g.data()}; }
};

/// The phases of a step, to be called in their order. Objects of one network are independent of each other;
/// one object is for one thread, and may have threads of its own.
class Trainer {
 public:
  virtual ~Trainer() = default;
  /// Allocates memory and starts threads for batches of n images, so that phases do neither. The first
  /// forward() of a size that was not prepared does it then.
  virtual void prepare(Index n) = 0;
  /// Activations and logits. The batch must stay as it is until backward() is done.
  virtual void forward(const State& at, const Batch& batch) = 0;
  /// The mean cross-entropy of the batch; makes its gradient by the logits.
  virtual float loss() = 0;
  /// Writes the gradient of that mean to g.
  virtual void backward(const State& at) = 0;
  /// The norm of g, as gradient_clip has it. optimize() takes the clipped gradient, g stays.
  virtual float clip(const State& at) = 0;
  /// Step t of adamw, counted from 1: updates p, m and v.
  virtual void optimize(const State& at, Index t) = 0;
};

/// The reference in float, one thread.
std::unique_ptr<Trainer> naive_trainer(const Network& network);

/// All phases in a row.
struct StepResult {
  float loss = 0, norm = 0;
};
StepResult train_step(Trainer& trainer, const State& at, const Batch& batch, Index t);

}  // namespace assay::training
