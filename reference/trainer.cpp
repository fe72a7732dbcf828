#include "assay/ops/trainer.hpp"

#include "assay/ops/adamw.hpp"
#include "assay/ops/batch_gradient.hpp"
#include "assay/ops/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace assay::training {
namespace {

class NaiveTrainer final : public Trainer {
 public:
  explicit NaiveTrainer(const Network& network)
      : model_(reference_model<float>(network)),
        clipped_(static_cast<std::size_t>(Segments(network).total())) {}

  void prepare(Index n) override {
    model_->prepare(n);
    logit_gradient_.resize(static_cast<std::size_t>(n * classes));
  }

  void forward(const State& at, const Batch& batch) override {
    if (batch.n != batch_.n) prepare(batch.n);
    batch_ = batch;
    logits_ = model_->forward(at.p, batch);
  }
  float loss() override {
    return cross_entropy(logits_, batch_.labels, batch_.n, batch_.n, logit_gradient_.data());
  }
  void backward(const State& at) override { model_->backward(at.p, logit_gradient_.data(), at.g); }

  float clip(const State& at) override {
    double squares = 0;
    for (std::size_t i = 0; i < clipped_.size(); ++i) {
      squares += static_cast<double>(at.g[i]) * static_cast<double>(at.g[i]);
    }
    const float norm = static_cast<float>(std::sqrt(squares));
    constexpr auto limit = static_cast<float>(GradientClip::limit),
                   floor = static_cast<float>(GradientClip::floor);
    const float kept = std::min(1.0F, limit / (norm + floor));
    for (std::size_t i = 0; i < clipped_.size(); ++i) clipped_[i] = kept * at.g[i];
    return norm;
  }
  void optimize(const State& at, Index t) override {
    const adamw::Constants<float> k(t);
    for (std::size_t i = 0; i < clipped_.size(); ++i) {
      const auto after = adamw::step<adamw::Paper, float>(clipped_[i], {at.p[i], at.m[i], at.v[i]}, k);
      at.p[i] = after.p;
      at.m[i] = after.m;
      at.v[i] = after.v;
    }
  }

 private:
  std::unique_ptr<Model<float>> model_;
  Batch batch_;
  const float* logits_ = nullptr;
  std::vector<float> logit_gradient_, clipped_;
};

}  // namespace

Parameters::Parameters(const Network& network, Rng& rng) {
  const Index count = Segments(network).total();
  for (Buffer<float>* each : {&p, &m, &v, &g}) *each = Buffer<float>(count);
  initialize(network, rng, p);
  std::ranges::fill(m, 0.0F);
  std::ranges::fill(v, 0.0F);
}

std::unique_ptr<Trainer> naive_trainer(const Network& network) {
  return std::make_unique<NaiveTrainer>(network);
}

StepResult train_step(Trainer& trainer, const State& at, const Batch& batch, Index t) {
  StepResult out;
  trainer.forward(at, batch);
  out.loss = trainer.loss();
  trainer.backward(at);
  out.norm = trainer.clip(at);
  trainer.optimize(at, t);
  return out;
}

std::vector<double> smoothed(std::span<const float> losses, std::size_t window) {
  std::vector<double> out;
  for (std::size_t end = window; end <= losses.size(); ++end) {
    const auto part = losses.subspan(end - window, window);
    out.push_back(std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(window));
  }
  return out;
}

double largest_difference(std::span<const float> losses, std::span<const float> others, std::size_t window) {
  const std::vector<double> a = smoothed(losses, window), b = smoothed(others, window);
  if (losses.size() != others.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]) / std::min(a[i], b[i]);
    // Not std::max, which drops a NaN.
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

}  // namespace assay::training
