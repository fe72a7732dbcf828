// Layers of a network as products of matrices on one thread: the tiles of gemm, and the sums of gemv.
#pragma once

#include "gemm/products.hpp"
#include "gemv/part.hpp"

#include "assay/ops/network.hpp"

namespace assay::train_step {

using blocked::Products;

/// y[columns] = factor times the sum of the rows of a[rows, columns]: a gemv with a constant vector.
class RowSum {
 public:
  RowSum() = default;
  RowSum(Index rows, Index columns, float factor = 1);
  void run(const float* a, float* y) const;

 private:
  gemv::Tier tier_;
  Index rows_ = 0, columns_ = 0;
  Buffer<float> factors_;
};

/// y[rows, outputs] = x[rows, inputs] w[inputs, outputs] + start, and the gradients.
class Dense {
 public:
  Dense() = default;
  Dense(Index rows, Index inputs, Index outputs, Products& products);

  /// Row i of y starts from row i modulo `starts` of start[starts, outputs]: a bias, or a position for each
  /// token. Without `start` it starts from zero.
  void forward(const float* x, const float* w, const float* start, Index starts, float* y) const;
  void data_gradient(const float* dy, const float* w, float* dx) const {
    products_->run(blocked::with(data_, dy, w, dx));
  }
  void weight_gradient(const float* x, const float* dy, float* dw) const {
    products_->run(blocked::with(weight_, x, dy, dw));
  }
  void bias_gradient(const float* dy, float* db) const { sum_.run(dy, db); }

 private:
  Products* products_ = nullptr;
  blocked::Product forward_, data_, weight_;
  RowSum sum_;
};

/// Attention of small images, whose scores stay in the first-level cache, a product of matrices per head: a =
/// softmax(q k^T / sqrt(d)), y = a v for each head of each image, d numbers per head, and the gradients.
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
