// Attention of small images: a product of matrices per head. Its scores stay in the first-level cache.
#pragma once

#include "train_step/dense.hpp"

#include "assay/ops/network.hpp"

namespace assay::train_step {

/// a = softmax(q k^T / sqrt(d)), y = a v for each head of each image, d numbers per head, and the gradients.
class Attention {
 public:
  Attention() = default;
  Attention(const training::Network& network, Index images, Products& products);

  Index shares_floats() const { return images_ * heads_ * tokens_ * tokens_; }
  /// qkv[images tokens, 3 width] and y[images tokens, width]; shares[images, heads, tokens, tokens].
  void forward(const float* qkv, float* shares, float* y) const;
  void backward(const float* qkv, const float* shares, const float* dy, float* d_qkv);

 private:
  /// Calls visit(offset in qkv, offset in y, offset in shares) for each head.
  template <class Visit>
  void for_each_head(const Visit& visit) const;
  void softmax(float* scores) const;
  void softmax_gradient(const float* shares, float* gradient) const;
  Index keys(Index query) const { return causal_ ? query + 1 : tokens_; }

  Products* products_ = nullptr;
  Index images_ = 0, tokens_ = 0, width_ = 0, heads_ = 0;
  bool causal_ = false;
  // The products of a head: from two sides of `width` numbers per token to scores, from scores and a side,
  // and the latter with transposed scores.
  blocked::Product to_scores_, from_scores_, from_transposed_;
  Buffer<float> d_scores_;
};

}  // namespace assay::train_step
