#include "assay/ops/model.hpp"

#include "assay/ops/layers.hpp"

#include <algorithm>
#include <vector>

namespace assay::training {
namespace {

template <class Real>
class Classifier final : public Model<Real> {
 public:
  explicit Classifier(const Network& network) : network_(network), segments_(network) {}

  void prepare(Index n) override {
    batch_.n = n;
    first_ = {conv1_layer(network_, n)};
    second_ = {conv2_layer(network_, n)};
    for (auto* each : {&before1_, &after1_, &gradient1_}) each->resize(size(first_.layer.y_size()));
    for (auto* each : {&before2_, &after2_, &gradient2_}) each->resize(size(second_.layer.y_size()));
    dense_ = {n, second_.layer.y_size() / n, classes};
    logits_.resize(size(n * classes));
  }

  const Real* forward(const Real* p, const Batch& batch) override {
    if (batch.n != batch_.n) prepare(batch.n);
    batch_ = batch;
    first_.forward(batch.pixels, in(p, "conv1.weight"), in(p, "conv1.bias"), before1_.data());
    std::ranges::transform(before1_, after1_.begin(), [](Real x) { return relu(x); });
    second_.forward(after1_.data(), in(p, "conv2.weight"), in(p, "conv2.bias"), before2_.data());
    std::ranges::transform(before2_, after2_.begin(), [](Real x) { return relu(x); });
    dense_.forward(after2_.data(), in(p, "dense.weight"), in(p, "dense.bias"), logits_.data());
    return logits_.data();
  }

  void backward(const Real* p, const Real* logit_gradient, Real* g) override {
    dense_.weight_gradient(after2_.data(), logit_gradient, in(g, "dense.weight"));
    dense_.bias_gradient(logit_gradient, in(g, "dense.bias"));
    dense_.data_gradient(logit_gradient, in(p, "dense.weight"), gradient2_.data());
    through_relu(before2_, gradient2_);
    second_.weight_gradient(after1_.data(), gradient2_.data(), in(g, "conv2.weight"), in(g, "conv2.bias"));
    second_.data_gradient(gradient2_.data(), in(p, "conv2.weight"), gradient1_.data());
    through_relu(before1_, gradient1_);
    first_.weight_gradient(batch_.pixels, gradient1_.data(), in(g, "conv1.weight"), in(g, "conv1.bias"));
  }

 private:
  template <class T>
  T* in(T* vector, std::string_view name) const {
    return segments_.in(vector, name);
  }
  static std::size_t size(Index count) { return static_cast<std::size_t>(count); }
  static void through_relu(const std::vector<Real>& x, std::vector<Real>& gradient) {
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = relu_gradient(x[i], gradient[i]);
  }

  Network network_;
  Segments segments_;
  Batch batch_;
  Convolution first_, second_;
  Dense dense_;
  std::vector<Real> before1_, after1_, gradient1_, before2_, after2_, gradient2_, logits_;
};

}  // namespace

conv2d::Problem conv1_layer(const Network& network, Index n) {
  conv2d::Problem layer;
  layer.n = n;
  layer.c = network.channels;
  layer.f = network.width;
  layer.h = layer.w = network.side;
  layer.kernel = 3;
  layer.pad = 1;
  layer.bias = 1;
  return layer;
}

conv2d::Problem conv2_layer(const Network& network, Index n) {
  conv2d::Problem layer = conv1_layer(network, n);
  layer.c = network.width;
  layer.f = 2 * network.width;
  layer.stride = 2;
  return layer;
}

template <class Real>
std::unique_ptr<Model<Real>> reference_classifier(const Network& network) {
  return std::make_unique<Classifier<Real>>(network);
}
template std::unique_ptr<Model<float>> reference_classifier(const Network&);
template std::unique_ptr<Model<double>> reference_classifier(const Network&);
template std::unique_ptr<Model<Rounded>> reference_classifier(const Network&);

}  // namespace assay::training
