// The work that cheats leave out, delay or hide: plain kernels that are right.
#pragma once

#include "assay/ops/adamw.hpp"
#include "assay/ops/conv2d_terms.hpp"
#include "assay/ops/elementwise.hpp"
#include "assay/ops/gemm.hpp"
#include "assay/ops/gemv.hpp"
#include "assay/ops/layernorm.hpp"

#include <algorithm>
#include <cmath>

namespace assay::known_cheats {

/// Rows [first, last) of C, as gemm has it.
inline void gemm_rows(const Gemm::Problem& p, const float* a, const float* b, float* c, Index first,
                      Index last) {
  const matrix::View<float> op_a = matrix::view(a, p.m, p.k, p.a_transposed()),
                            op_b = matrix::view(b, p.k, p.n, p.b_transposed());
  const float alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  for (Index i = first; i < last; ++i) {
    float* row = c + i * p.n;
    for (Index j = 0; j < p.n; ++j) row[j] = p.beta == 0 ? 0 : beta * row[j];
    for (Index l = 0; l < p.k; ++l) {
      const float scaled = alpha * op_a(i, l);
      for (Index j = 0; j < p.n; ++j) row[j] += scaled * op_b(l, j);
    }
  }
}
inline void gemm(const Gemm::Problem& p, const Gemm::Input& in, Gemm::Output& out) {
  gemm_rows(p, in.a.data(), in.b.data(), out.c.data(), 0, p.m);
}

/// Computes anew what of C, a function of A and B alone, depends on element `at` of A: a row.
inline void gemm_after_a(const Gemm::Problem& p, const Gemm::Input& in, Index at, float* c) {
  const auto a = matrix::view(in.a.data(), p.m, p.k, p.a_transposed());
  const auto b = matrix::view(in.b.data(), p.k, p.n, p.b_transposed());
  const Index i = p.a_transposed() ? at % p.m : at / p.k;
  for (Index j = 0; j < p.n; ++j)
    c[i * p.n + j] = static_cast<float>(p.alpha) * matrix::element<float>(a, b, i, j, p.k);
}
/// The same of element `at` of B: a column.
inline void gemm_after_b(const Gemm::Problem& p, const Gemm::Input& in, Index at, float* c) {
  const auto a = matrix::view(in.a.data(), p.m, p.k, p.a_transposed());
  const auto b = matrix::view(in.b.data(), p.k, p.n, p.b_transposed());
  const Index j = p.b_transposed() ? at / p.k : at % p.n;
  for (Index i = 0; i < p.m; ++i)
    c[i * p.n + j] = static_cast<float>(p.alpha) * matrix::element<float>(a, b, i, j, p.k);
}

inline void gemv(const Gemv::Problem& p, const Gemv::Input& in, Gemv::Output& out) {
  const matrix::View<float> a = matrix::view(in.a.data(), p.results(), p.terms(), p.transposed());
  for (Index i = 0; i < p.results(); ++i) {
    float sum = 0;
    for (Index l = 0; l < p.terms(); ++l) sum += a(i, l) * in.x[l];
    out.y[i] = sum;
  }
}

/// With the statistics that it writes, as naive: the contract lets y be that of more digits, too.
inline void layer_norm_row(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out,
                           Index row) {
  const float* x = in.x.data() + row * p.cols;
  float* y = out.y.data() + row * p.cols;
  const auto cols = static_cast<double>(p.cols);
  double sum = 0, squares = 0;
  for (Index j = 0; j < p.cols; ++j) sum += static_cast<double>(x[j]);
  const double mean = sum / cols;
  for (Index j = 0; j < p.cols; ++j)
    squares += (static_cast<double>(x[j]) - mean) * (static_cast<double>(x[j]) - mean);
  const double rstd = 1 / std::sqrt(squares / cols + layernorm::epsilon);
  const float written_mean = static_cast<float>(mean), written_rstd = static_cast<float>(rstd);
  for (Index j = 0; j < p.cols; ++j) y[j] = (x[j] - written_mean) * written_rstd * in.gamma[j] + in.beta[j];
  out.mean[row] = written_mean;
  out.rstd[row] = written_rstd;
}
inline void layer_norm(const LayerNorm::Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  for (Index row = 0; row < p.rows; ++row) layer_norm_row(p, in, out, row);
}

inline void adamw_step(const AdamWPaper::Problem& p, const AdamWPaper::Input& in, AdamWPaper::Output& out) {
  const adamw::Constants<float> constants(p.t);
  for (Index i = 0; i < p.n; ++i) {
    const auto next = adamw::step<adamw::Paper, float>(in.g[i], {out.p[i], out.m[i], out.v[i]}, constants);
    out.p[i] = next.p;
    out.m[i] = next.m;
    out.v[i] = next.v;
  }
}

template <class Formula>
void elementwise_loops(const typename Elementwise<Formula>::Problem& p,
                       const typename Elementwise<Formula>::Input& in,
                       typename Elementwise<Formula>::Output& out) {
  const auto [x, y, z] = p.views();
  const float alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  for (Index n = 0; n < p.n; ++n) {
    for (Index c = 0; c < p.c; ++c) {
      for (Index h = 0; h < p.h; ++h) {
        for (Index w = 0; w < p.w; ++w) {
          const float b = Formula::unary ? 0 : in.y[y.at(n, c, h, w)];
          float& to = out.z[z.at(n, c, h, w)];
          const float fresh = Formula::template apply<float>(in.x[x.at(n, c, h, w)], b, alpha);
          to = p.beta == 0 ? fresh : fresh + beta * to;
        }
      }
    }
  }
}

inline void conv2d_filter(const Conv2d::Problem& p, const Conv2d::Input& in, Conv2d::Output& out, Index image,
                          Index filter) {
  const Index rows = p.window().out_h(), columns = p.window().out_w();
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      float sum = p.has_bias() ? in.bias[filter] : 0;
      conv2d::terms_of_y(p, image, filter, i, j,
                         [&](Index at_x, Index at_w) { sum += in.x[at_x] * in.w[at_w]; });
      out.y[((image * p.f + filter) * rows + i) * columns + j] = sum;
    }
  }
}
inline void conv2d_all(const Conv2d::Problem& p, const Conv2d::Input& in, Conv2d::Output& out) {
  for (Index image = 0; image < p.n; ++image) {
    for (Index filter = 0; filter < p.f; ++filter) conv2d_filter(p, in, out, image, filter);
  }
}

}  // namespace assay::known_cheats
