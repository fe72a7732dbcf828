/// A network as forward and backward pass, on any scalar: the reference that is naive in float and the oracle
/// in double; and the two networks.
#pragma once

#include "assay/ops/conv2d.hpp"
#include "assay/ops/network.hpp"
#include "assay/ops/rounded.hpp"

#include <memory>

namespace assay::training {

/// The passes of one network. Activations are kept from forward to backward, inside.
template <class Real>
class Model {
 public:
  virtual ~Model() = default;
  /// Makes room for batches of n images. forward() does it by itself when n has changed.
  virtual void prepare(Index n) = 0;
  /// Logits [n, classes] from parameters p; they stay until the next call. The batch must, too, until
  /// backward() is done.
  virtual const Real* forward(const Real* p, const Batch& batch) = 0;
  /// Overwrites g with the gradient by the parameters, laid out as they are, from that by the logits of the
  /// last forward().
  virtual void backward(const Real* p, const Real* logit_gradient, Real* g) = 0;
};

/// The reference, in float, double and Rounded, which bounds what any variant may be off by.
///
/// The network `classifier`:
///
///   a1 = conv1(x) + b1, 3 x 3, border 1         [n, F, side, side]
///   a2 = conv2(relu(a1)) + b2, the same with stride 2   [n, 2 F, half_side, half_side]
///   logits = flatten(relu(a2)) W + b            [n, 10]
///
/// Source: the convolutional network of LeCun, Bottou, Bengio and Haffner, Proceedings of the IEEE 86(11),
/// 1998, section II, with strides in the place of pooling as in Springenberg et al., ICLR 2015 workshop.
///
/// The network `transformer`: one pre-norm block over the patches of an image.
///
/// With D = width, T = tokens, h heads of D / h numbers each, and rows for all tokens of the batch:
///   e = patches(x) E + position                      [n T, D]
///   q, k, v = layernorm(e) W                         [n T, 3 D]
///   a = softmax(q k^T / sqrt(D / h)) over the tokens that the mask lets a token see    [n, h, T, T]
///   s = e + (a v) P + b                              [n T, D]
///   r = s + gelu(layernorm(s) U + c) V + d           [n T, D], the erf form of gelu
///   logits = mean over tokens of r, times H + f      [n, 10]
///
/// Source: Vaswani et al., Attention Is All You Need, NeurIPS 2017, section 3.2; LayerNorm before each part
/// as in GPT-2, Radford et al. (2019), section 2.3; patches as tokens from Dosovitskiy et al., An Image is
/// Worth 16x16 Words, ICLR 2021, section 3.1, with the mean of the tokens instead of a class token.
template <class Real>
std::unique_ptr<Model<Real>> reference_model(const Network& network);

/// sum over the batch of -log(softmax(logits)[label]) / `divisor`, and its gradient by the logits,
/// (softmax(logits) - [label]) / divisor. With divisor = n that is the mean; a part of a batch takes the n of
/// the whole.
///
/// From shifted logits, z - max(z), so that no exponential overflows. Source: Bridle, Neurocomputing, 1990;
/// Goodfellow, Bengio and Courville, Deep Learning (2016), section 6.2.2.3.
template <class Real>
Real cross_entropy(const Real* logits, const Index* labels, Index n, Index divisor, Real* logit_gradient);

/// The two convolutions for a batch of n images.
conv2d::Problem conv1_layer(const Network& network, Index n);
conv2d::Problem conv2_layer(const Network& network, Index n);

/// x[n, channels, side, side] as rows [n tokens, patch_pixels]: patches row by row, in each the channels, and
/// in each of these the pixels row by row. `rows` is overwritten.
void cut_patches(const Network& network, const Batch& batch, float* rows);

}  // namespace assay::training
