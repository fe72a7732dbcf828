/// The layers of a network on any scalar, each with its gradients. The formulas are those of the references
/// of conv2d, gemm, layernorm and the activations; all sums are Sum, so that in Rounded they stand for
/// every order.
#pragma once

#include "assay/ops/conv2d.hpp"
#include "assay/ops/layernorm.hpp"
#include "assay/ops/pointwise_formula.hpp"
#include "assay/ops/rounded.hpp"

#include <algorithm>
#include <cmath>

namespace assay::training {

template <class T>
struct Matrix {
  T* data = nullptr;
  Index row = 0, column = 1;
  T& operator()(Index i, Index j) const { return data[i * row + j * column]; }
  Matrix transposed() const { return {data, column, row}; }
};

/// C[m, n] = factor A B.
template <class Real, class A, class B>
void multiply(Index m, Index n, Index k, Matrix<A> a, Matrix<B> b, Matrix<Real> c, Real factor = Real(1)) {
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      Sum<Real> sum;
      for (Index l = 0; l < k; ++l) sum.add(Real(a(i, l)) * Real(b(l, j)));
      c(i, j) = factor * sum.result();
    }
  }
}

/// y[rows, outputs] = x[rows, inputs] w[inputs, outputs] + b.
struct Dense {
  Index rows = 0, inputs = 0, outputs = 0;

  template <class Real, class X>
  void forward(const X* x, const Real* w, const Real* b, Real* y) const {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < outputs; ++j) {
        Sum<Real> sum;
        sum.add(b[j]);
        for (Index l = 0; l < inputs; ++l) sum.add(Real(x[i * inputs + l]) * w[l * outputs + j]);
        y[i * outputs + j] = sum.result();
      }
    }
  }
  template <class Real>
  void data_gradient(const Real* dy, const Real* w, Real* dx) const {
    multiply<Real, const Real, const Real>(rows, inputs, outputs, {dy, outputs}, {w, 1, outputs},
                                           {dx, inputs});
  }
  template <class Real, class X>
  void weight_gradient(const X* x, const Real* dy, Real* dw) const {
    multiply<Real, const X, const Real>(inputs, outputs, rows, {x, 1, inputs}, {dy, outputs}, {dw, outputs});
  }
  template <class Real>
  void bias_gradient(const Real* dy, Real* db) const {
    for (Index j = 0; j < outputs; ++j) {
      Sum<Real> sum;
      for (Index i = 0; i < rows; ++i) sum.add(dy[i * outputs + j]);
      db[j] = sum.result();
    }
  }
};

/// conv2d with a bias per filter.
struct Convolution {
  conv2d::Layer layer;

  template <class Real, class X>
  void forward(const X* x, const Real* w, const Real* b, Real* y) const {
    sums_y(layer).fill(y, [&](Index n, Index f, Index i, Index j) {
      Sum<Real> sum;
      terms_of_y(layer, n, f, i, j, [&](Index in_x, Index in_w) { sum.add(Real(x[in_x]) * w[in_w]); });
      sum.add(b[f]);
      return sum.result();
    });
  }
  template <class Real>
  void data_gradient(const Real* dy, const Real* w, Real* dx) const {
    sums_dx(layer).fill(dx, [&](Index n, Index c, Index row, Index column) {
      Sum<Real> sum;
      terms_of_dx(layer, n, c, row, column, [&](Index in_dy, Index in_w) { sum.add(dy[in_dy] * w[in_w]); });
      return sum.result();
    });
  }
  template <class Real, class X>
  void weight_gradient(const X* x, const Real* dy, Real* dw, Real* db) const {
    sums_dw(layer).fill(dw, [&](Index f, Index c, Index k, Index l) {
      Sum<Real> sum;
      terms_of_dw(layer, f, c, k, l, [&](Index in_dy, Index in_x) { sum.add(dy[in_dy] * Real(x[in_x])); });
      return sum.result();
    });
    for (Index f = 0; f < layer.f; ++f) {
      Sum<Real> sum;
      for (Index n = 0; n < layer.n; ++n) {
        const Real* plane = dy + (n * layer.f + f) * layer.out_pixels();
        for (Index at = 0; at < layer.out_pixels(); ++at) sum.add(plane[at]);
      }
      db[f] = sum.result();
    }
  }
};

template <class Real>
Real relu(Real x) {
  return pointwise::positive_part(x);
}
inline Rounded relu(Rounded x) {
  return {std::max(x.value, 0.0), x.value + x.bound() <= 0 ? 0 : x.deviation};
}
template <class Real>
Real relu_gradient(Real x, Real dz) {
  return pointwise::ReluBackward::apply<Real>({x, dz}, Real(1))[0];
}
/// Either answer is right where single precision may see the other sign of x: an error of dz, which bound()
/// has to reach once. Few of several open decisions come out wrong, and not all on one side.
inline Rounded relu_gradient(Rounded x, Rounded dz) {
  if (x.value + x.bound() <= 0) return {};
  if (x.value - x.bound() > 0) return dz;
  return {x.value > 0 ? dz.value : 0, std::hypot(dz.value / Rounded::margin, dz.deviation)};
}

template <class Real>
Real gelu(Real x) {
  return pointwise::Gelu::apply<Real>({x}, Real(1))[0];
}
inline Rounded gelu(Rounded x) {
  const double slope = pointwise::GeluBackward::apply<double>({x.value, 1}, 1)[0];
  return {gelu(x.value),
          std::hypot(slope * x.deviation, pointwise::Gelu::bound({x.value}, 1, Fill::uniform)[0])};
}
template <class Real>
Real gelu_gradient(Real x, Real dz) {
  return pointwise::GeluBackward::apply<Real>({x, dz}, Real(1))[0];
}
/// gelu''(x) = (2 - x^2) phi(x).
inline Rounded gelu_gradient(Rounded x, Rounded dz) {
  const double slope = gelu_gradient(x.value, 1.0);
  const double curvature = (2 - x.value * x.value) * pointwise::normal_density(x.value);
  const double roundings = pointwise::GeluBackward::bound({x.value, dz.value}, 1, Fill::uniform)[0];
  return {slope * dz.value, std::hypot(curvature * dz.value * x.deviation, slope * dz.deviation, roundings)};
}

/// layernorm and layernorm_backward, rows[rows, cols].
struct Normalization {
  Index rows = 0, cols = 0;
  // The roundings that `others` stands for: those of the walk around the mean, and of the three terms of dx,
  // as the contracts of both operations count them.
  static constexpr double in_variance = 5, in_dx = 11;

  template <class Real>
  void forward(const Real* x, const Real* gamma, const Real* beta, Real* y, Real* mean, Real* rstd) const {
    using std::sqrt;
    const Real n = Real(static_cast<double>(cols));
    for (Index r = 0; r < rows; ++r, x += cols, y += cols) {
      Sum<Real> sum, squares(in_variance);
      for (Index j = 0; j < cols; ++j) sum.add(x[j]);
      mean[r] = sum.result() / n;
      for (Index j = 0; j < cols; ++j) squares.add((x[j] - mean[r]) * (x[j] - mean[r]));
      rstd[r] = Real(1) / sqrt(squares.result() / n + Real(layernorm::epsilon));
      for (Index j = 0; j < cols; ++j) y[j] = (x[j] - mean[r]) * rstd[r] * gamma[j] + beta[j];
    }
  }
  /// `gammas` and `betas` are room for cols sums each.
  template <class Real>
  void backward(const Real* dy, const Real* x, const Real* mean, const Real* rstd, const Real* gamma,
                Real* dx, Real* dgamma, Real* dbeta, Sum<Real>* gammas, Sum<Real>* betas) const {
    const Real n = Real(static_cast<double>(cols));
    std::fill_n(gammas, cols, Sum<Real>(2));
    std::fill_n(betas, cols, Sum<Real>());
    for (Index r = 0; r < rows; ++r, dy += cols, x += cols, dx += cols) {
      const auto xhat = [&](Index j) { return (x[j] - mean[r]) * rstd[r]; };
      Sum<Real> of_w(4), of_w_xhat(4);
      for (Index j = 0; j < cols; ++j) {
        of_w.add(dy[j] * gamma[j]);
        of_w_xhat.add(dy[j] * gamma[j] * xhat(j));
        gammas[j].add(dy[j] * xhat(j));
        betas[j].add(dy[j]);
      }
      const Real mean_w = of_w.result() / n, mean_w_xhat = of_w_xhat.result() / n;
      for (Index j = 0; j < cols; ++j) {
        Sum<Real> sum(in_dx);
        sum.add(dy[j] * gamma[j]);
        sum.add(-mean_w);
        sum.add(-(xhat(j) * mean_w_xhat));
        dx[j] = rstd[r] * sum.result();
      }
    }
    for (Index j = 0; j < cols; ++j) {
      dgamma[j] = gammas[j].result();
      dbeta[j] = betas[j].result();
    }
  }
};

}  // namespace assay::training
