#include "train_step/layers.hpp"

#include <algorithm>

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

}  // namespace assay::train_step
