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
#pragma once

#include "assay/ops/model.hpp"

namespace assay::training {

/// x[n, channels, side, side] as rows [n tokens, patch_pixels]: patches row by row, in each the channels, and
/// in each of these the pixels row by row. `rows` is overwritten.
void cut_patches(const Network& network, const Batch& batch, float* rows);

template <class Real>
std::unique_ptr<Model<Real>> reference_transformer(const Network& network);

}  // namespace assay::training
