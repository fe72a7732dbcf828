#include "assay/ops/model.hpp"

#include "assay/ops/layernorm.hpp"
#include "assay/ops/pointwise_formula.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

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

template float cross_entropy(const float*, const Index*, Index, Index, float*);
template double cross_entropy(const double*, const Index*, Index, Index, double*);
template Rounded cross_entropy(const Rounded*, const Index*, Index, Index, Rounded*);

namespace {

// The layers of a network on any scalar, each with its gradients. The formulas are those of the references
// of conv2d, gemm, layernorm and the activations; all sums are Sum, so that in Rounded they stand for every
// order.

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
Rounded relu(Rounded x) { return {std::max(x.value, 0.0), x.value + x.bound() <= 0 ? 0 : x.deviation}; }
template <class Real>
Real relu_gradient(Real x, Real dz) {
  return pointwise::ReluBackward::apply<Real>({x, dz}, Real(1))[0];
}
/// Either answer is right where single precision may see the other sign of x: an error of dz, which bound()
/// has to reach once. Few of several open decisions come out wrong, and not all on one side.
Rounded relu_gradient(Rounded x, Rounded dz) {
  if (x.value + x.bound() <= 0) return {};
  if (x.value - x.bound() > 0) return dz;
  return {x.value > 0 ? dz.value : 0, std::hypot(dz.value / Rounded::margin, dz.deviation)};
}

template <class Real>
Real gelu(Real x) {
  return pointwise::Gelu::apply<Real>({x}, Real(1))[0];
}
Rounded gelu(Rounded x) {
  const double slope = pointwise::GeluBackward::apply<double>({x.value, 1}, 1)[0];
  return {gelu(x.value),
          std::hypot(slope * x.deviation, pointwise::Gelu::bound({x.value}, 1, Fill::uniform)[0])};
}
template <class Real>
Real gelu_gradient(Real x, Real dz) {
  return pointwise::GeluBackward::apply<Real>({x, dz}, Real(1))[0];
}
/// gelu''(x) = (2 - x^2) phi(x).
Rounded gelu_gradient(Rounded x, Rounded dz) {
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

std::size_t size(Index count) { return static_cast<std::size_t>(count); }

template <class Real>
class Classifier final : public Model<Real>, Segments {
 public:
  explicit Classifier(const Network& network) : Segments(network), network_(network) {}

  void prepare(Index n) override {
    batch_.n = n;
    first_ = {conv1_layer(network_, n)};
    second_ = {conv2_layer(network_, n)};
    for (auto* each : {&before1_, &after1_, &gradient1_}) each->resize(size(first_.layer.y_size()));
    for (auto* each : {&before2_, &after2_, &gradient2_}) each->resize(size(second_.layer.y_size()));
    dense_ = {n, second_.layer.y_size() / n, classes};
    logits_.resize(size(n * classes));
  }

  const Real* forward(const Real* p, const Batch& batch) override {
    if (batch.n != batch_.n) prepare(batch.n);
    batch_ = batch;
    first_.forward(batch.pixels, in(p, "conv1.weight"), in(p, "conv1.bias"), before1_.data());
    std::ranges::transform(before1_, after1_.begin(), [](Real x) { return relu(x); });
    second_.forward(after1_.data(), in(p, "conv2.weight"), in(p, "conv2.bias"), before2_.data());
    std::ranges::transform(before2_, after2_.begin(), [](Real x) { return relu(x); });
    dense_.forward(after2_.data(), in(p, "dense.weight"), in(p, "dense.bias"), logits_.data());
    return logits_.data();
  }

  void backward(const Real* p, const Real* logit_gradient, Real* g) override {
    dense_.weight_gradient(after2_.data(), logit_gradient, in(g, "dense.weight"));
    dense_.bias_gradient(logit_gradient, in(g, "dense.bias"));
    dense_.data_gradient(logit_gradient, in(p, "dense.weight"), gradient2_.data());
    through_relu(before2_, gradient2_);
    second_.weight_gradient(after1_.data(), gradient2_.data(), in(g, "conv2.weight"), in(g, "conv2.bias"));
    second_.data_gradient(gradient2_.data(), in(p, "conv2.weight"), gradient1_.data());
    through_relu(before1_, gradient1_);
    first_.weight_gradient(batch_.pixels, gradient1_.data(), in(g, "conv1.weight"), in(g, "conv1.bias"));
  }

 private:
  static void through_relu(const std::vector<Real>& x, std::vector<Real>& gradient) {
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = relu_gradient(x[i], gradient[i]);
  }

  Network network_;
  Batch batch_;
  Convolution first_, second_;
  Dense dense_;
  std::vector<Real> before1_, after1_, gradient1_, before2_, after2_, gradient2_, logits_;
};

/// Queries, keys and values of one head of one image: rows of tokens inside [n T, 3 D].
template <class T>
struct Head {
  Matrix<T> query, key, value;
};

/// The attention of all heads of all images.
struct Attention {
  Index images, tokens, width, heads;
  bool causal;

  Index head_width() const { return width / heads; }
  double scale() const { return 1 / std::sqrt(static_cast<double>(head_width())); }
  Index keys(Index query) const { return causal ? query + 1 : tokens; }
  Index shares_size() const { return images * heads * tokens * tokens; }

  template <class T>
  Head<T> head(T* qkv, Index image, Index h) const {
    T* at = qkv + image * tokens * 3 * width + h * head_width();
    return {{at, 3 * width}, {at + width, 3 * width}, {at + 2 * width, 3 * width}};
  }
  template <class T>
  Matrix<T> columns(T* rows, Index image, Index h) const {
    return {rows + image * tokens * width + h * head_width(), width};
  }
  /// Calls visit(image, head, its shares [tokens, tokens]).
  template <class T, class Visit>
  void for_each_head(T* shares, const Visit& visit) const {
    for (Index image = 0; image < images; ++image) {
      for (Index h = 0; h < heads; ++h, shares += tokens * tokens) visit(image, h, Matrix<T>{shares, tokens});
    }
  }

  template <class Real>
  void forward(const Real* qkv, Real* shares, Real* out) const {
    for_each_head(shares, [&](Index image, Index h, Matrix<Real> a) {
      const Head<const Real> from = head(qkv, image, h);
      multiply<Real>(tokens, tokens, head_width(), from.query, from.key.transposed(), a, Real(scale()));
      for (Index i = 0; i < tokens; ++i) softmax(a, i);
      multiply<Real, Real, const Real>(tokens, head_width(), tokens, a, from.value, columns(out, image, h));
    });
  }

  /// Row i of the scores becomes shares of 1.
  template <class Real>
  void softmax(Matrix<Real> a, Index i) const {
    using std::exp;
    Real largest = a(i, 0);
    for (Index j = 1; j < keys(i); ++j) {
      if (value_of(a(i, j)) > value_of(largest)) largest = a(i, j);
    }
    Sum<Real> sum;
    for (Index j = 0; j < keys(i); ++j) {
      a(i, j) = exp(a(i, j) - any(largest));
      sum.add(a(i, j));
    }
    const Real whole = sum.result();
    for (Index j = 0; j < tokens; ++j) a(i, j) = j < keys(i) ? a(i, j) / whole : Real(0);
  }

  /// `d_scores` is room for the scores of one head.
  template <class Real>
  void backward(const Real* qkv, const Real* shares, const Real* d_out, Real* d_qkv,
                Matrix<Real> d_scores) const {
    for_each_head(shares, [&](Index image, Index h, Matrix<const Real> a) {
      const Head<const Real> from = head(qkv, image, h);
      const Head<Real> to = head(d_qkv, image, h);
      const Matrix<const Real> dy = columns(d_out, image, h);
      const Index d = head_width();
      multiply<Real, const Real, const Real>(tokens, d, tokens, a.transposed(), dy, to.value);
      multiply<Real, const Real, const Real>(tokens, tokens, d, dy, from.value.transposed(), d_scores);
      for (Index i = 0; i < tokens; ++i) {
        Sum<Real> sum;
        for (Index j = 0; j < tokens; ++j) sum.add(a(i, j) * d_scores(i, j));
        const Real mean = sum.result();
        for (Index j = 0; j < tokens; ++j) d_scores(i, j) = a(i, j) * (d_scores(i, j) - mean);
      }
      multiply<Real, Real, const Real>(tokens, d, tokens, d_scores, from.key, to.query, Real(scale()));
      multiply<Real, Real, const Real>(tokens, d, tokens, d_scores.transposed(), from.query, to.key,
                                       Real(scale()));
    });
  }
};

template <class Real>
class Transformer final : public Model<Real>, Segments {
 public:
  explicit Transformer(const Network& network) : Segments(network), network_(network) {}

  void prepare(Index n) override {
    batch_.n = n;
    const Index d = network_.width, t = network_.tokens();
    patches_.resize(size(rows() * network_.patch_pixels()));
    for (auto* each : {&embedded_, &normal1_, &mixed_, &attended_, &normal2_, &contracted_, &d_block_,
                       &d_normal_, &d_rows_, &d_mixed_}) {
      each->resize(size(rows() * d));
    }
    for (auto* each : {&mean1_, &rstd1_, &mean2_, &rstd2_}) each->resize(size(rows()));
    for (auto* each : {&qkv_, &d_qkv_}) each->resize(size(rows() * 3 * d));
    for (auto* each : {&expanded_, &activated_, &d_hidden_}) each->resize(size(rows() * network_.hidden()));
    for (auto* each : {&pooled_, &d_pooled_}) each->resize(size(n * d));
    shares_.resize(size(attention().shares_size()));
    d_scores_.resize(size(t * t));
    sums_.resize(size(2 * d));
    logits_.resize(size(n * classes));
  }

  const Real* forward(const Real* p, const Batch& batch) override {
    if (batch.n != batch_.n) prepare(batch.n);
    batch_ = batch;
    const Index d = network_.width, t = network_.tokens();
    cut_patches(network_, batch, patches_.data());
    embed(p);
    norm().forward(embedded_.data(), in(p, "norm1.gamma"), in(p, "norm1.beta"), normal1_.data(),
                   mean1_.data(), rstd1_.data());
    multiply<Real, const Real, const Real>(rows(), 3 * d, d, {normal1_.data(), d},
                                           {in(p, "attention.weight"), 3 * d}, {qkv_.data(), 3 * d});
    attention().forward(qkv_.data(), shares_.data(), mixed_.data());
    project().forward(mixed_.data(), in(p, "project.weight"), in(p, "project.bias"), attended_.data());
    for (std::size_t i = 0; i < attended_.size(); ++i) attended_[i] = embedded_[i] + attended_[i];
    norm().forward(attended_.data(), in(p, "norm2.gamma"), in(p, "norm2.beta"), normal2_.data(),
                   mean2_.data(), rstd2_.data());
    expand().forward(normal2_.data(), in(p, "expand.weight"), in(p, "expand.bias"), expanded_.data());
    for (std::size_t i = 0; i < expanded_.size(); ++i) activated_[i] = gelu(expanded_[i]);
    contract().forward(activated_.data(), in(p, "contract.weight"), in(p, "contract.bias"),
                       contracted_.data());
    // Both terms of the last residual go into one sum over the tokens.
    for (Index i = 0; i < batch.n * d; ++i) {
      Sum<Real> sum;
      for (Index token = 0; token < t; ++token) {
        const std::size_t at = size((i / d * t + token) * d + i % d);
        sum.add(attended_[at]);
        sum.add(contracted_[at]);
      }
      pooled_[size(i)] = sum.result() / Real(static_cast<double>(t));
    }
    head().forward(pooled_.data(), in(p, "head.weight"), in(p, "head.bias"), logits_.data());
    return logits_.data();
  }

  void backward(const Real* p, const Real* logit_gradient, Real* g) override {
    const Index d = network_.width, t = network_.tokens();
    head().weight_gradient(pooled_.data(), logit_gradient, in(g, "head.weight"));
    head().bias_gradient(logit_gradient, in(g, "head.bias"));
    head().data_gradient(logit_gradient, in(p, "head.weight"), d_pooled_.data());
    for (Index i = 0; i < rows() * d; ++i) {
      d_block_[size(i)] = d_pooled_[size(i / (t * d) * d + i % d)] / Real(static_cast<double>(t));
    }

    contract().weight_gradient(activated_.data(), d_block_.data(), in(g, "contract.weight"));
    // d_block is the same for all tokens of an image, over which its sum is d_pooled.
    Dense{batch_.n, 0, d}.bias_gradient(d_pooled_.data(), in(g, "contract.bias"));
    contract().data_gradient(d_block_.data(), in(p, "contract.weight"), d_hidden_.data());
    for (std::size_t i = 0; i < d_hidden_.size(); ++i)
      d_hidden_[i] = gelu_gradient(expanded_[i], d_hidden_[i]);
    expand().weight_gradient(normal2_.data(), d_hidden_.data(), in(g, "expand.weight"));
    expand().bias_gradient(d_hidden_.data(), in(g, "expand.bias"));
    expand().data_gradient(d_hidden_.data(), in(p, "expand.weight"), d_normal_.data());
    norm().backward(d_normal_.data(), attended_.data(), mean2_.data(), rstd2_.data(), in(p, "norm2.gamma"),
                    d_rows_.data(), in(g, "norm2.gamma"), in(g, "norm2.beta"), sums_.data(),
                    sums_.data() + d);
    for (std::size_t i = 0; i < d_block_.size(); ++i) d_block_[i] = d_block_[i] + d_rows_[i];

    project().weight_gradient(mixed_.data(), d_block_.data(), in(g, "project.weight"));
    project().bias_gradient(d_block_.data(), in(g, "project.bias"));
    project().data_gradient(d_block_.data(), in(p, "project.weight"), d_mixed_.data());
    attention().backward(qkv_.data(), shares_.data(), d_mixed_.data(), d_qkv_.data(), {d_scores_.data(), t});
    const Dense queries{rows(), d, 3 * d};
    queries.weight_gradient(normal1_.data(), d_qkv_.data(), in(g, "attention.weight"));
    queries.data_gradient(d_qkv_.data(), in(p, "attention.weight"), d_normal_.data());
    norm().backward(d_normal_.data(), embedded_.data(), mean1_.data(), rstd1_.data(), in(p, "norm1.gamma"),
                    d_rows_.data(), in(g, "norm1.gamma"), in(g, "norm1.beta"), sums_.data(),
                    sums_.data() + d);
    for (std::size_t i = 0; i < d_block_.size(); ++i) d_block_[i] = d_block_[i] + d_rows_[i];

    Dense{rows(), network_.patch_pixels(), d}.weight_gradient(patches_.data(), d_block_.data(),
                                                              in(g, "embed.weight"));
    Dense{batch_.n, 0, t * d}.bias_gradient(d_block_.data(), in(g, "position"));
  }

 private:
  /// The position is the bias of its token: an image is a row of all of its tokens' biases.
  void embed(const Real* p) {
    const Index d = network_.width, t = network_.tokens();
    for (Index token = 0; token < t; ++token) {
      for (Index image = 0; image < batch_.n; ++image) {
        const Index row = image * t + token;
        Dense{1, network_.patch_pixels(), d}.forward(patches_.data() + row * network_.patch_pixels(),
                                                     in(p, "embed.weight"), in(p, "position") + token * d,
                                                     embedded_.data() + row * d);
      }
    }
  }

  Index rows() const { return batch_.n * network_.tokens(); }
  Normalization norm() const { return {rows(), network_.width}; }
  Attention attention() const {
    return {batch_.n, network_.tokens(), network_.width, network_.heads, network_.mask == Mask::causal};
  }
  Dense project() const { return {rows(), network_.width, network_.width}; }
  Dense expand() const { return {rows(), network_.width, network_.hidden()}; }
  Dense contract() const { return {rows(), network_.hidden(), network_.width}; }
  Dense head() const { return {batch_.n, network_.width, classes}; }

  Network network_;
  Batch batch_;
  std::vector<float> patches_;
  std::vector<Real> embedded_, normal1_, mean1_, rstd1_, qkv_, shares_, mixed_, attended_, normal2_, mean2_,
      rstd2_, expanded_, activated_, contracted_, pooled_, logits_;
  std::vector<Real> d_pooled_, d_block_, d_hidden_, d_normal_, d_rows_, d_mixed_, d_qkv_, d_scores_;
  std::vector<Sum<Real>> sums_;
};

}  // namespace

conv2d::Problem conv1_layer(const Network& network, Index n) {
  conv2d::Problem layer;
  layer.n = n;
  layer.c = network.channels;
  layer.f = network.width;
  layer.h = layer.w = network.side;
  layer.kernel = 3;
  layer.pad = 1;
  layer.bias = 1;
  return layer;
}

conv2d::Problem conv2_layer(const Network& network, Index n) {
  conv2d::Problem layer = conv1_layer(network, n);
  layer.c = network.width;
  layer.f = 2 * network.width;
  layer.stride = 2;
  return layer;
}

void cut_patches(const Network& network, const Batch& batch, float* rows) {
  const Index side = network.side, patch = network.patch, across = side / patch;
  for (Index image = 0; image < batch.n; ++image) {
    const float* x = batch.pixels + image * network.pixels();
    for (Index token = 0; token < network.tokens(); ++token) {
      for (Index c = 0; c < network.channels; ++c) {
        for (Index i = 0; i < patch; ++i) {
          const float* from = x + (c * side + token / across * patch + i) * side + token % across * patch;
          for (Index j = 0; j < patch; ++j) *rows++ = from[j];
        }
      }
    }
  }
}

template <class Real>
std::unique_ptr<Model<Real>> reference_model(const Network& network) {
  if (network.kind == Kind::classifier) return std::make_unique<Classifier<Real>>(network);
  return std::make_unique<Transformer<Real>>(network);
}
template std::unique_ptr<Model<float>> reference_model(const Network&);
template std::unique_ptr<Model<double>> reference_model(const Network&);
template std::unique_ptr<Model<Rounded>> reference_model(const Network&);

}  // namespace assay::training
