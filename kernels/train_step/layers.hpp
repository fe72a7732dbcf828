// Layers of a network as products of matrices on one thread: the tiles of gemm, and the sums of gemv.
#pragma once

#include "gemm/products.hpp"
#include "gemv/part.hpp"

#include <algorithm>

namespace assay::train_step {

using blocked::Products;

/// y[columns] = factor times the sum of the rows of a[rows, columns]: a gemv with a constant vector.
class RowSum {
 public:
  RowSum() = default;
  RowSum(Index rows, Index columns, float factor = 1)
      : tier_(best_of(gemv::tiers())), rows_(rows), columns_(columns), factors_(rows) {
    std::ranges::fill(factors_, factor);
  }
  void run(const float* a, float* y) const {
    tier_.function({a, factors_.data(), y, rows_, columns_, true, 0, columns_});
  }

 private:
  gemv::Tier tier_;
  Index rows_ = 0, columns_ = 0;
  Buffer<float> factors_;
};

/// y[rows, outputs] = x[rows, inputs] w[inputs, outputs] + start, and the gradients.
class Dense {
 public:
  Dense() = default;
  Dense(Index rows, Index inputs, Index outputs, Products& products)
      : products_(&products),
        forward_(blocked::product({nullptr, inputs}, {nullptr, outputs}, nullptr, outputs, rows, outputs,
                                  inputs, 1, 1)),
        data_(blocked::product({nullptr, outputs}, {nullptr, outputs, true}, nullptr, inputs, rows, inputs,
                               outputs)),
        weight_(blocked::product({nullptr, inputs, true}, {nullptr, outputs}, nullptr, outputs, inputs,
                                 outputs, rows)),
        sum_(rows, outputs) {
    for (const blocked::Product& each : {forward_, data_, weight_}) products.plan(each);
  }

  /// Row i of y starts from row i modulo `starts` of start[starts, outputs]: a bias, or a position for each
  /// token. Without `start` it starts from zero.
  void forward(const float* x, const float* w, const float* start, Index starts, float* y) const {
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
