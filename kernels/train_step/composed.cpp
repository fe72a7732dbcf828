// The idea: the best tiers of the other hot paths, one after the other, on arrays that the one before left in
// the caches. A thread takes its images through both passes alone, with a gradient of its own. Threads meet
// three times for the passes and the sum of the gradients, and three times for clipping and AdamW.

#include "train_step/trainer.hpp"

#include "adamw/step.hpp"
#include "gemm/grid.hpp"
#include "gradient_accumulation/sweeps.hpp"
#include "gradient_clip/passes.hpp"
#include "team.hpp"

#include "assay/ops/train_step.hpp"

#include <algorithm>
#include <list>
#include <vector>

namespace assay::train_step {
namespace {

using training::Batch;
using training::Network;
using training::State;

/// The images of a thread, with its activations and gradient.
struct Part {
  Index first = 0, count = 0;
  std::unique_ptr<training::Model<float>> model;
  const float* logits = nullptr;
  Buffer<float> logit_gradient;
  Buffer<float> g;  ///< empty for the first part, which writes to the state's gradient
};

/// The division of a batch size.
struct Division {
  Index n = 0;
  std::vector<Part> parts;
};

class ComposedTrainer final : public training::Trainer {
 public:
  ComposedTrainer(const Network& network, const Context& context)
      : network_(network),
        threads_(std::max(1, context.threads)),
        parameters_(training::Segments(network).total()),
        parameter_threads_(parameters_ < adamw::break_even ? 1 : threads_),
        clipped_(parameters_),
        squares_(static_cast<std::size_t>(parameter_threads_)),
        sweep_(best_of(gradient_accumulation::tiers()).function),
        clip_(best_of(gradient_clip::tiers())),
        step_(best_of(adamw::tiers()).function) {}

  void prepare(Index n) override {
    const auto known = std::ranges::find(divisions_, n, &Division::n);
    division_ = known == divisions_.end() ? nullptr : &*known;
    if (division_ != nullptr) return;
    // Room for a full batch, the last batch of an epoch and the last of its validation. A driver that sweeps
    // sizes leaves no more behind.
    if (divisions_.size() == 3) divisions_.pop_front();
    division_ = &divisions_.emplace_back();
    division_->n = n;
    const double work = static_cast<double>(n) * training::forward_multiply_adds(network_);
    const Index parts = std::clamp<Index>(static_cast<Index>(work / blocked::least_multiply_adds), 1,
                                          std::min<Index>(threads_, n));
    for (Index i = 0; i < parts; ++i) {
      Part part{.first = n * i / parts, .count = n * (i + 1) / parts - n * i / parts};
      part.model = network_.kind == training::Kind::classifier ? composed_classifier(network_)
                                                               : composed_transformer(network_);
      part.model->prepare(part.count);
      part.logit_gradient = Buffer<float>(part.count * training::classes);
      if (i > 0) part.g = Buffer<float>(parameters_);
      division_->parts.push_back(std::move(part));
    }
    start_team(std::max(static_cast<int>(parts), parameter_threads_));
  }

  void forward(const State& at, const Batch& batch) override {
    if (division_ == nullptr || division_->n != batch.n) prepare(batch.n);
    batch_ = batch;
    on_each(division_->parts, [&](Part& part) {
      part.logits = part.model->forward(
          at.p, {batch.pixels + part.first * network_.pixels(), batch.labels + part.first, part.count});
    });
  }

  float loss() override {
    float sum = 0;
    for (Part& part : division_->parts) {
      sum += training::cross_entropy(part.logits, batch_.labels + part.first, part.count, batch_.n,
                                     part.logit_gradient.data());
    }
    return sum;
  }

  void backward(const State& at) override {
    on_each(division_->parts, [&](Part& part) {
      part.model->backward(at.p, part.logit_gradient.data(), part.first == 0 ? at.g : part.g.data());
    });
    if (division_->parts.size() == 1) return;
    on_shares(parameter_threads_, parameters_, [&](Index first, Index last) {
      for (const Part& part : division_->parts) {
        if (part.first > 0) sweep_(1, false, part.g.data(), at.g, first, last);
      }
    });
  }

  float clip(const State& at) override {
    return gradient_clip::clip(clip_, squares_, at.g, clipped_.data(), parameters_);
  }

  void optimize(const State& at, Index t) override {
    const adamw::StepConstants k = adamw::step_constants<adamw::Paper>(t);
    const adamw::Arrays arrays{clipped_.data(), at.p, at.m, at.v};
    on_shares(parameter_threads_, parameters_,
              [&](Index first, Index last) { step_(k, arrays, first, last); });
  }

 private:
  Network network_;
  int threads_;
  Index parameters_;
  int parameter_threads_;
  Buffer<float> clipped_;
  std::vector<double> squares_;
  gradient_accumulation::SweepFunction* sweep_;
  gradient_clip::Tier clip_;
  adamw::StepFunction* step_;
  std::list<Division> divisions_;
  Division* division_ = nullptr;
  Batch batch_;
};

Variant<TrainStep>::Kernel prepare(const TrainStep::Problem& p, const TrainStep::Input&,
                                   const Context& context) {
  const auto trainer = std::make_shared<ComposedTrainer>(TrainStep::network_of(p), context);
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

std::unique_ptr<training::Trainer> composed_trainer(const Network& network, const Context& context) {
  return std::make_unique<ComposedTrainer>(network, context);
}

}  // namespace assay::train_step
