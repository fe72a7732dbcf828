#include "layernorm/rows.hpp"
#include "layernorm_backward/rows.hpp"
#include "pointwise/arrays.hpp"
#include "train_step/layers.hpp"
#include "train_step/trainer.hpp"

#include "assay/ops/model.hpp"

#include <algorithm>
#include <cmath>

namespace assay::train_step {
namespace {

using training::Batch;
using training::Network;

/// Attention of small images, whose scores stay in the first-level cache, a product of matrices per head: a =
/// softmax(q k^T / sqrt(d)), y = a v for each head of each image, d numbers per head, and the gradients.
class Attention {
 public:
  Attention() = default;
  Attention(const Network& network, Index images, Products& products)
      : products_(&products),
        images_(images),
        tokens_(network.tokens()),
        width_(network.width),
        heads_(network.heads),
        causal_(network.mask == training::Mask::causal),
        d_scores_(tokens_ * tokens_) {
    const Index d = width_ / heads_;
    const Index side = 3 * width_;
    to_scores_ =
        blocked::product({nullptr, side}, {nullptr, side, true}, nullptr, tokens_, tokens_, tokens_, d);
    from_scores_ = blocked::product({nullptr, tokens_}, {nullptr, side}, nullptr, side, tokens_, d, tokens_);
    from_transposed_ = from_scores_;
    from_transposed_.a_transposed = true;
    for (const blocked::Product& each : {to_scores_, from_scores_, from_transposed_}) products.plan(each);
  }

  Index shares_floats() const { return images_ * heads_ * tokens_ * tokens_; }

  /// qkv[images tokens, 3 width] and y[images tokens, width]; shares[images, heads, tokens, tokens].
  void forward(const float* qkv, float* shares, float* y) const {
    blocked::Product scores = to_scores_, mix = from_scores_;
    scores.alpha = 1 / std::sqrt(static_cast<float>(to_scores_.k));
    mix.ldc = width_;
    for_each_head([&](Index in_qkv, Index in_y, Index in_shares) {
      const float* query = qkv + in_qkv;
      float* a = shares + in_shares;
      products_->run(blocked::with(scores, query, query + width_, a));
      softmax(a);
      products_->run(blocked::with(mix, a, query + 2 * width_, y + in_y));
    });
  }

  void backward(const float* qkv, const float* shares, const float* dy, float* d_qkv) {
    const float scale = 1 / std::sqrt(static_cast<float>(to_scores_.k));
    blocked::Product d_value = from_transposed_, d_shares = to_scores_, d_query = from_scores_,
                     d_key = from_transposed_;
    d_value.ldb = width_;
    d_shares.lda = width_;
    d_query.alpha = d_key.alpha = scale;
    float* const ds = d_scores_.data();
    for_each_head([&](Index in_qkv, Index in_y, Index in_shares) {
      const float* query = qkv + in_qkv;
      const float* a = shares + in_shares;
      float* to = d_qkv + in_qkv;
      products_->run(blocked::with(d_value, a, dy + in_y, to + 2 * width_));
      products_->run(blocked::with(d_shares, dy + in_y, query + 2 * width_, ds));
      softmax_gradient(a, ds);
      products_->run(blocked::with(d_query, ds, query + width_, to));
      products_->run(blocked::with(d_key, ds, query, to + width_));
    });
  }

 private:
  /// Calls visit(offset in qkv, offset in y, offset in shares) for each head.
  template <class Visit>
  void for_each_head(const Visit& visit) const {
    const Index d = width_ / heads_;
    for (Index image = 0; image < images_; ++image) {
      for (Index head = 0; head < heads_; ++head) {
        const Index row = image * tokens_;
        visit(row * 3 * width_ + head * d, row * width_ + head * d,
              (image * heads_ + head) * tokens_ * tokens_);
      }
    }
  }

  void softmax(float* scores) const {
    for (Index i = 0; i < tokens_; ++i, scores += tokens_) {
      const Index count = causal_ ? i + 1 : tokens_;
      const float largest = *std::max_element(scores, scores + count);
      float sum = 0;
      for (Index j = 0; j < count; ++j) {
        scores[j] = std::exp(scores[j] - largest);
        sum += scores[j];
      }
      for (Index j = 0; j < count; ++j) scores[j] /= sum;
      std::fill(scores + count, scores + tokens_, 0.0F);
    }
  }

  /// Turns the gradient of the shares into the gradient of the scores, in place.
  void softmax_gradient(const float* shares, float* gradient) const {
    for (Index i = 0; i < tokens_; ++i, shares += tokens_, gradient += tokens_) {
      float mean = 0;
      for (Index j = 0; j < tokens_; ++j) mean += shares[j] * gradient[j];
      for (Index j = 0; j < tokens_; ++j) gradient[j] = shares[j] * (gradient[j] - mean);
    }
  }

  Products* products_ = nullptr;
  Index images_ = 0, tokens_ = 0, width_ = 0, heads_ = 0;
  bool causal_ = false;
  // The products of a head: from two sides of `width` numbers per token to scores, from scores and a side,
  // and the latter with transposed scores.
  blocked::Product to_scores_, from_scores_, from_transposed_;
  Buffer<float> d_scores_;
};

class Transformer final : public training::Model<float>, training::Segments {
 public:
  explicit Transformer(const Network& network)
      : Segments(network),
        network_(network),
        elements_(best_of(pointwise::tiers())),
        norm_(best_of(layernorm::tiers()).function),
        norm_gradient_(best_of(layernorm_backward::tiers()).function) {}

  void prepare(Index n) override {
    batch_.n = n;
    const Index t = network_.tokens(), d = network_.width, rows = n * t;
    products_ = Products();
    embed_ = Dense(rows, network_.patch_pixels(), d, products_);
    queries_ = Dense(rows, d, 3 * d, products_);
    attention_ = Attention(network_, n, products_);
    project_ = Dense(rows, d, d, products_);
    expand_ = Dense(rows, d, network_.hidden(), products_);
    contract_ = Dense(rows, network_.hidden(), d, products_);
    head_ = Dense(n, d, training::classes, products_);
    mean_of_tokens_ = RowSum(t, d, 1 / static_cast<float>(t));
    images_ = RowSum(n, d);
    positions_ = RowSum(n, t * d);

    patches_ = Buffer<float>(rows * network_.patch_pixels());
    for (Buffer<float>* each : {&embedded_, &normal1_, &mixed_, &projected_, &attended_, &normal2_,
                                &contracted_, &d_block_, &d_rows_, &d_sum_}) {
      *each = Buffer<float>(rows * d);
    }
    for (Buffer<float>* each : {&mean1_, &rstd1_, &mean2_, &rstd2_}) *each = Buffer<float>(rows);
    for (Buffer<float>* each : {&qkv_, &d_qkv_}) *each = Buffer<float>(rows * 3 * d);
    for (Buffer<float>* each : {&expanded_, &activated_, &d_activated_, &d_expanded_}) {
      *each = Buffer<float>(rows * network_.hidden());
    }
    for (Buffer<float>* each : {&pooled_, &d_pooled_}) *each = Buffer<float>(n * d);
    shares_ = Buffer<float>(attention_.shares_floats());
    mean_ = Buffer<float>(d);
    logits_ = Buffer<float>(n * training::classes);
  }

  const float* forward(const float* p, const Batch& batch) override {
    if (batch.n != batch_.n) prepare(batch.n);
    batch_ = batch;
    const Index rows = batch.n * network_.tokens(), d = network_.width;
    cut_patches(network_, batch, patches_.data());
    embed_.forward(patches_.data(), in(p, "embed.weight"), in(p, "position"), network_.tokens(),
                   embedded_.data());
    norm_({.x = embedded_.data(),
           .gamma = in(p, "norm1.gamma"),
           .beta = in(p, "norm1.beta"),
           .y = normal1_.data(),
           .mean = mean1_.data(),
           .rstd = rstd1_.data(),
           .cols = d},
          0, rows);
    queries_.forward(normal1_.data(), in(p, "attention.weight"), nullptr, 0, qkv_.data());
    attention_.forward(qkv_.data(), shares_.data(), mixed_.data());
    project_.forward(mixed_.data(), in(p, "project.weight"), in(p, "project.bias"), 1, projected_.data());
    norm_({.x = embedded_.data(),
           .r = projected_.data(),
           .gamma = in(p, "norm2.gamma"),
           .beta = in(p, "norm2.beta"),
           .s = attended_.data(),
           .y = normal2_.data(),
           .mean = mean2_.data(),
           .rstd = rstd2_.data(),
           .cols = d},
          0, rows);
    expand_.forward(normal2_.data(), in(p, "expand.weight"), in(p, "expand.bias"), 1, expanded_.data());
    elements_.functions<pointwise::Gelu>().plain({.in = {expanded_.data()}, .out = {activated_.data()}}, 0,
                                                 activated_.size());
    contract_.forward(activated_.data(), in(p, "contract.weight"), in(p, "contract.bias"), 1,
                      contracted_.data());
    pool();
    head_.forward(pooled_.data(), in(p, "head.weight"), in(p, "head.bias"), 1, logits_.data());
    return logits_.data();
  }

  void backward(const float* p, const float* logit_gradient, float* g) override {
    head_.weight_gradient(pooled_.data(), logit_gradient, in(g, "head.weight"));
    head_.bias_gradient(logit_gradient, in(g, "head.bias"));
    head_.data_gradient(logit_gradient, in(p, "head.weight"), d_pooled_.data());
    spread();

    contract_.weight_gradient(activated_.data(), d_block_.data(), in(g, "contract.weight"));
    // d_block is the same for all tokens of an image; its sum over them is d_pooled.
    images_.run(d_pooled_.data(), in(g, "contract.bias"));
    contract_.data_gradient(d_block_.data(), in(p, "contract.weight"), d_activated_.data());
    elements_.functions<pointwise::GeluBackward>().plain(
        {.in = {expanded_.data(), d_activated_.data()}, .out = {d_expanded_.data()}}, 0, d_expanded_.size());
    expand_.weight_gradient(normal2_.data(), d_expanded_.data(), in(g, "expand.weight"));
    expand_.bias_gradient(d_expanded_.data(), in(g, "expand.bias"));
    expand_.data_gradient(d_expanded_.data(), in(p, "expand.weight"), d_rows_.data());
    through_norm(attended_, mean2_, rstd2_, in(p, "norm2.gamma"), in(g, "norm2.gamma"), in(g, "norm2.beta"));

    project_.weight_gradient(mixed_.data(), d_block_.data(), in(g, "project.weight"));
    project_.bias_gradient(d_block_.data(), in(g, "project.bias"));
    project_.data_gradient(d_block_.data(), in(p, "project.weight"), d_rows_.data());
    attention_.backward(qkv_.data(), shares_.data(), d_rows_.data(), d_qkv_.data());
    queries_.weight_gradient(normal1_.data(), d_qkv_.data(), in(g, "attention.weight"));
    queries_.data_gradient(d_qkv_.data(), in(p, "attention.weight"), d_rows_.data());
    through_norm(embedded_, mean1_, rstd1_, in(p, "norm1.gamma"), in(g, "norm1.gamma"), in(g, "norm1.beta"));

    embed_.weight_gradient(patches_.data(), d_block_.data(), in(g, "embed.weight"));
    positions_.run(d_block_.data(), in(g, "position"));
  }

 private:
  /// Sums both terms of the last residual over the tokens separately: their sum is never written.
  void pool() {
    const Index d = network_.width, image = network_.tokens() * d;
    for (Index i = 0; i < batch_.n; ++i) {
      float* to = pooled_.data() + i * d;
      mean_of_tokens_.run(attended_.data() + i * image, to);
      mean_of_tokens_.run(contracted_.data() + i * image, mean_.data());
      for (Index j = 0; j < d; ++j) to[j] += mean_[j];
    }
  }

  /// The gradient of the mean is the same for all tokens of an image.
  void spread() {
    const Index d = network_.width, t = network_.tokens();
    const float share = 1 / static_cast<float>(t);
    for (Index i = 0; i < batch_.n; ++i) {
      float* const first = d_block_.data() + i * t * d;
      for (Index j = 0; j < d; ++j) first[j] = share * d_pooled_[i * d + j];
      for (Index token = 1; token < t; ++token) std::copy_n(first, d, first + token * d);
    }
  }

  /// Adds the gradient of a LayerNorm of x from d_rows to d_block.
  void through_norm(const Buffer<float>& x, const Buffer<float>& mean, const Buffer<float>& rstd,
                    const float* gamma, float* dgamma, float* dbeta) {
    norm_gradient_({.dy = d_rows_.data(),
                    .x = x.data(),
                    .mean = mean.data(),
                    .rstd = rstd.data(),
                    .gamma = gamma,
                    .dx = d_sum_.data(),
                    .dgamma = dgamma,
                    .dbeta = dbeta,
                    .cols = network_.width},
                   0, mean.size());
    elements_.functions<pointwise::ScaledSum>().plain(
        {.in = {d_block_.data(), d_sum_.data()}, .out = {d_rows_.data()}}, 0, d_rows_.size());
    std::swap(d_block_, d_rows_);
  }

  Network network_;
  pointwise::Tier elements_;
  layernorm::RowsFunction* norm_;
  layernorm_backward::RowsFunction* norm_gradient_;
  Batch batch_;
  Products products_;
  Dense embed_, queries_, project_, expand_, contract_, head_;
  Attention attention_;
  RowSum mean_of_tokens_, images_, positions_;
  Buffer<float> patches_, embedded_, normal1_, mean1_, rstd1_, qkv_, shares_, mixed_, projected_, attended_,
      normal2_, mean2_, rstd2_, expanded_, activated_, contracted_, mean_, pooled_, logits_;
  Buffer<float> d_pooled_, d_block_, d_activated_, d_expanded_, d_rows_, d_sum_, d_qkv_;
};

}  // namespace

std::unique_ptr<training::Model<float>> composed_transformer(const Network& network) {
  return std::make_unique<Transformer>(network);
}

}  // namespace assay::train_step
