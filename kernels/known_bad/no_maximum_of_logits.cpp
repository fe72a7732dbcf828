// Common in first versions: softmax by its formula, without the largest number of the row subtracted. From 89
// on exp is infinite in single precision, and the quotient is NaN.

#include "assay/ops/softmax_cross_entropy.hpp"
#include "assay/registry.hpp"

#include <cmath>

namespace assay {
namespace {

void run(const SoftmaxCrossEntropy::Problem& p, const SoftmaxCrossEntropy::Input& in,
         SoftmaxCrossEntropy::Output& out) {
  const auto everywhere = static_cast<float>(p.everywhere()), at_label = static_cast<float>(p.at_label());
  for (Index i = 0; i < p.rows; ++i) {
    const float* x = in.x.data() + i * p.cols;
    float sum = 0, loss = 0;
    for (Index j = 0; j < p.cols; ++j) sum += std::exp(x[j]);
    for (Index j = 0; j < p.cols; ++j) {
      const float share = std::exp(x[j]) / sum, target = everywhere + (j == in.label[i] ? at_label : 0);
      if (target > 0) loss -= target * std::log(share);
      out.dx[i * p.cols + j] = (share - target) / static_cast<float>(p.rows);
    }
    out.loss[i] = loss;
  }
}

const Register registered{[](Registry& r) {
  r.add<SoftmaxCrossEntropy>(
      {.name = "no_maximum_of_logits",
       .summary = "softmax without the largest logit subtracted",
       .known_bad = "the formula as textbooks print it: overflows where a logit is above 88",
       .run = run});
}};

}  // namespace
}  // namespace assay
