/// The network `classifier`: its layers, and its reference.
///
///   a1 = conv1(x) + b1, 3 x 3, border 1         [n, F, side, side]
///   a2 = conv2(relu(a1)) + b2, the same with stride 2   [n, 2 F, half_side, half_side]
///   logits = flatten(relu(a2)) W + b            [n, 10]
///
/// Source: the convolutional network of LeCun, Bottou, Bengio and Haffner, Proceedings of the IEEE 86(11),
/// 1998, section II, with strides in the place of pooling as in Springenberg et al., ICLR 2015 workshop.
#pragma once

#include "assay/ops/conv2d.hpp"
#include "assay/ops/model.hpp"

namespace assay::training {

/// The two convolutions for a batch of n images.
conv2d::Problem conv1_layer(const Network& network, Index n);
conv2d::Problem conv2_layer(const Network& network, Index n);

template <class Real>
std::unique_ptr<Model<Real>> reference_classifier(const Network& network);

}  // namespace assay::training
