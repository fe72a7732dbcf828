// A softmax that overflows, and a loss that leaves smoothing out.

#include "assay/ops/softmax_cross_entropy.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

// Common in first versions: softmax by its formula, without the largest number of the row subtracted. From 89
// on exp is infinite in single precision, and the quotient is NaN.
void no_maximum_of_logits(const SoftmaxCrossEntropy::Problem& p, const SoftmaxCrossEntropy::Input& in,
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

// Common in fused kernels: they replace softmax, loss and gradient for hard labels, and take the place of a
// loss with label smoothing all the same. The gradient of every class is then off by e / cols, and nothing
// fails.
void smoothing_left_out(const SoftmaxCrossEntropy::Problem& p, const SoftmaxCrossEntropy::Input& in,
                        SoftmaxCrossEntropy::Output& out) {
  for (Index i = 0; i < p.rows; ++i) {
    const float* x = in.x.data() + i * p.cols;
    float* dx = out.dx.data() + i * p.cols;
    const float largest = *std::max_element(x, x + p.cols);
    float sum = 0;
    for (Index j = 0; j < p.cols; ++j) sum += dx[j] = std::exp(x[j] - largest);
    for (Index j = 0; j < p.cols; ++j) dx[j] = dx[j] / sum / static_cast<float>(p.rows);
    dx[in.label[i]] -= 1 / static_cast<float>(p.rows);
    out.loss[i] = std::log(sum) - (x[in.label[i]] - largest);
  }
}

const Register registered{[](Registry& r) {
  r.add<SoftmaxCrossEntropy>(
      {.name = "no_maximum_of_logits",
       .summary = "softmax without the largest logit subtracted",
       .known_bad = "the formula as textbooks print it: overflows where a logit is above 88",
       .run = no_maximum_of_logits});
  r.add<SoftmaxCrossEntropy>(
      {.name = "smoothing_left_out",
       .summary = "fused for hard labels only",
       .known_bad = "fused cross-entropy kernels put in place of a loss with label smoothing",
       .run = smoothing_left_out});
}};

}  // namespace
}  // namespace assay
