/// A network as forward and backward pass, on any scalar: the reference that is naive in float and the oracle
/// in double.
#pragma once

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

}  // namespace assay::training
