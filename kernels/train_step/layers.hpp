// Layers of a network as products of matrices on one thread: the tiles of gemm, and the sums of gemv.
#pragma once

#include "gemm/products.hpp"
#include "gemv/part.hpp"

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

}  // namespace assay::train_step
