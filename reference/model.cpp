#include "assay/ops/model.hpp"

#include <cmath>

namespace assay::training {

template <class Real>
Real cross_entropy(const Real* logits, const Index* labels, Index n, Index divisor, Real* logit_gradient) {
  using std::exp, std::log;
  const Real samples = Real(static_cast<double>(divisor));
  Sum<Real> loss;
  for (Index i = 0; i < n; ++i, logits += classes, logit_gradient += classes) {
    Real largest = logits[0];
    for (Index j = 1; j < classes; ++j) {
      if (value_of(logits[j]) > value_of(largest)) largest = logits[j];
    }
    const Real shift = any(largest);
    Sum<Real> exponentials;
    for (Index j = 0; j < classes; ++j) {
      logit_gradient[j] = exp(logits[j] - shift);
      exponentials.add(logit_gradient[j]);
    }
    const Real sum = exponentials.result();
    loss.add(log(sum) - (logits[labels[i]] - shift));
    for (Index j = 0; j < classes; ++j) {
      const Real share = logit_gradient[j] / sum;
      logit_gradient[j] = (j == labels[i] ? share - Real(1) : share) / samples;
    }
  }
  return loss.result() / samples;
}

template <class Real>
std::unique_ptr<Model<Real>> reference_model(const Network& network) {
  return network.kind == Kind::classifier ? reference_classifier<Real>(network)
                                          : reference_transformer<Real>(network);
}

template std::unique_ptr<Model<float>> reference_model(const Network&);
template std::unique_ptr<Model<double>> reference_model(const Network&);
template std::unique_ptr<Model<Rounded>> reference_model(const Network&);
template float cross_entropy(const float*, const Index*, Index, Index, float*);
template double cross_entropy(const double*, const Index*, Index, Index, double*);
template Rounded cross_entropy(const Rounded*, const Index*, Index, Index, Rounded*);

}  // namespace assay::training
