#include "train_step/layers.hpp"

#include <algorithm>
#include <cmath>

namespace assay::train_step {

RowSum::RowSum(Index rows, Index columns, float factor)
    : tier_(best_of(gemv::tiers())), rows_(rows), columns_(columns), factors_(rows) {
  std::ranges::fill(factors_, factor);
}

void RowSum::run(const float* a, float* y) const {
  tier_.function({a, factors_.data(), y, rows_, columns_, true, 0, columns_});
}

Dense::Dense(Index rows, Index inputs, Index outputs, Products& products)
    : products_(&products),
      forward_(blocked::product({nullptr, inputs}, {nullptr, outputs}, nullptr, outputs, rows, outputs,
                                inputs, 1, 1)),
      data_(blocked::product({nullptr, outputs}, {nullptr, outputs, true}, nullptr, inputs, rows, inputs,
                             outputs)),
      weight_(blocked::product({nullptr, inputs, true}, {nullptr, outputs}, nullptr, outputs, inputs, outputs,
                               rows)),
      sum_(rows, outputs) {
  for (const blocked::Product& each : {forward_, data_, weight_}) products.plan(each);
}

void Dense::forward(const float* x, const float* w, const float* start, Index starts, float* y) const {
  blocked::Product product = blocked::with(forward_, x, w, y);
  if (start == nullptr) {
    product.beta = 0;
  } else {
    for (Index i = 0; i < product.m; ++i) {
      std::copy_n(start + i % starts * product.n, product.n, y + i * product.n);
    }
  }
  products_->run(product);
}

Attention::Attention(const training::Network& network, Index images, Products& products)
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

template <class Visit>
void Attention::for_each_head(const Visit& visit) const {
  const Index d = width_ / heads_;
  for (Index image = 0; image < images_; ++image) {
    for (Index head = 0; head < heads_; ++head) {
      const Index row = image * tokens_;
      visit(row * 3 * width_ + head * d, row * width_ + head * d,
            (image * heads_ + head) * tokens_ * tokens_);
    }
  }
}

void Attention::softmax(float* scores) const {
  for (Index i = 0; i < tokens_; ++i, scores += tokens_) {
    const Index count = keys(i);
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
void Attention::softmax_gradient(const float* shares, float* gradient) const {
  for (Index i = 0; i < tokens_; ++i, shares += tokens_, gradient += tokens_) {
    float mean = 0;
    for (Index j = 0; j < tokens_; ++j) mean += shares[j] * gradient[j];
    for (Index j = 0; j < tokens_; ++j) gradient[j] = shares[j] * (gradient[j] - mean);
  }
}

void Attention::forward(const float* qkv, float* shares, float* y) const {
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

void Attention::backward(const float* qkv, const float* shares, const float* dy, float* d_qkv) {
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

}  // namespace assay::train_step
