#include "train_step/attention.hpp"

#include <algorithm>
#include <cmath>

namespace assay::train_step {

Attention::Attention(const training::Network& network, Index images, Products& products)
    : products_(&products),
      images_(images),
      tokens_(network.tokens()),
      width_(network.width),
      heads_(network.heads),
      causal_(network.mask == training::Mask::causal),
      d_scores_(tokens_ * tokens_) {
  const Index d = width_ / heads_;
  to_scores_ = {.m = tokens_,
                .n = tokens_,
                .k = d,
                .lda = 3 * width_,
                .ldb = 3 * width_,
                .ldc = tokens_,
                .b_transposed = true};
  from_scores_ = {.m = tokens_, .n = d, .k = tokens_, .lda = tokens_, .ldb = 3 * width_, .ldc = 3 * width_};
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
