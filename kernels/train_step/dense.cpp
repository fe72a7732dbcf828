#include "train_step/dense.hpp"

#include "tiers.hpp"

#include <algorithm>

namespace assay::train_step {

RowSum::RowSum(Index rows, Index columns, float factor)
    : tier_(best_of(gemv::tiers())), rows_(rows), columns_(columns), factors_(rows) {
  std::ranges::fill(factors_, factor);
}

void RowSum::run(const float* a, float* y) const {
  tier_.function({.a = a,
                  .x = factors_.data(),
                  .y = y,
                  .m = rows_,
                  .n = columns_,
                  .transposed = true,
                  .begin = 0,
                  .end = columns_});
}

Dense::Dense(Index rows, Index inputs, Index outputs, Products& products)
    : products_(&products),
      forward_{
          .m = rows, .n = outputs, .k = inputs, .lda = inputs, .ldb = outputs, .ldc = outputs, .beta = 1},
      data_{.m = rows,
            .n = inputs,
            .k = outputs,
            .lda = outputs,
            .ldb = outputs,
            .ldc = inputs,
            .b_transposed = true},
      weight_{.m = inputs,
              .n = outputs,
              .k = rows,
              .lda = inputs,
              .ldb = outputs,
              .ldc = outputs,
              .a_transposed = true},
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
