#include "conv2d/direct.hpp"
#include "pointwise/arrays.hpp"
#include "train_step/layers.hpp"
#include "train_step/trainer.hpp"

#include "assay/ops/model.hpp"

#include <optional>

namespace assay::train_step {
namespace {

using training::Batch;
using training::Network;

/// A convolution and its gradients, by `direct`.
struct Convolution {
  conv2d::SumPlan y, dx;
  conv2d::WeightPlan dw;

  Convolution(const conv2d::Problem& layer, const conv2d::DirectTier& tier)
      : y(conv2d::SumPlan::of_y(layer, tier)), dx(conv2d::SumPlan::of_dx(layer, tier)), dw(layer, tier, 1) {
    y.divide(1);
    dx.divide(1);
  }
};

class Classifier final : public training::Model<float>, training::Segments {
 public:
  explicit Classifier(const Network& network)
      : Segments(network), network_(network), elements_(best_of(pointwise::tiers())) {}

  void prepare(Index n) override {
    batch_.n = n;
    const conv2d::DirectTier conv_tier = best_of(conv2d::direct_tiers());
    const conv2d::Problem first = conv1_layer(network_, n), second = conv2_layer(network_, n);
    conv1_.emplace(first, conv_tier);
    conv2_.emplace(second, conv_tier);
    products_ = Products();
    dense_ = Dense(n, second.y_size() / n, training::classes, products_);
    after1_ = Buffer<float>(first.y_size());
    after2_ = Buffer<float>(second.y_size());
    // One array holds the input of relu and, in the backward pass, its gradient: they are never needed at the
    // same time.
    wide_ = Buffer<float>(std::max(first.y_size(), second.y_size()));
    wide_too_ = Buffer<float>(wide_.size());
    logits_ = Buffer<float>(n * training::classes);
  }

  const float* forward(const float* p, const Batch& batch) override {
    if (batch.n != batch_.n) prepare(batch.n);
    batch_ = batch;
    conv1_->y.run(batch.pixels, in(p, "conv1.weight"), in(p, "conv1.bias"), wide_.data());
    relu(wide_, after1_);
    conv2_->y.run(after1_.data(), in(p, "conv2.weight"), in(p, "conv2.bias"), wide_.data());
    relu(wide_, after2_);
    dense_.forward(after2_.data(), in(p, "dense.weight"), in(p, "dense.bias"), 1, logits_.data());
    return logits_.data();
  }

  void backward(const float* p, const float* logit_gradient, float* g) override {
    dense_.weight_gradient(after2_.data(), logit_gradient, in(g, "dense.weight"));
    dense_.bias_gradient(logit_gradient, in(g, "dense.bias"));
    dense_.data_gradient(logit_gradient, in(p, "dense.weight"), wide_.data());
    relu_gradient(after2_, wide_, wide_too_);
    conv2_->dw.run(after1_.data(), wide_too_.data(), in(g, "conv2.weight"), in(g, "conv2.bias"));
    conv2_->dx.run(wide_too_.data(), in(p, "conv2.weight"), nullptr, wide_.data());
    relu_gradient(after1_, wide_, wide_too_);
    conv1_->dw.run(batch_.pixels, wide_too_.data(), in(g, "conv1.weight"), in(g, "conv1.bias"));
  }

 private:
  void relu(const Buffer<float>& x, Buffer<float>& z) const {
    elements_.functions<pointwise::PositivePart>().plain({.in = {x.data()}, .out = {z.data()}}, 0, z.size());
  }
  /// relu(x) is positive exactly where x is, so x need not be kept.
  void relu_gradient(const Buffer<float>& z, const Buffer<float>& dz, Buffer<float>& dx) const {
    elements_.functions<pointwise::ReluBackward>().plain({.in = {z.data(), dz.data()}, .out = {dx.data()}}, 0,
                                                         z.size());
  }

  Network network_;
  pointwise::Tier elements_;
  Batch batch_;
  Products products_;
  std::optional<Convolution> conv1_, conv2_;
  Dense dense_;
  Buffer<float> after1_, after2_, wide_, wide_too_, logits_;
};

}  // namespace

std::unique_ptr<training::Model<float>> composed_classifier(const Network& network) {
  return std::make_unique<Classifier>(network);
}

}  // namespace assay::train_step
