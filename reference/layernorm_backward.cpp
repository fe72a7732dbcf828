#include "assay/ops/layernorm_backward.hpp"

#include <cmath>
#include <utility>

namespace assay {
namespace {

using Problem = layernorm::BackwardProblem;
using rounding::g;

/// The inputs of both contracts. rmsnorm has no mean: it counts as 0.
struct Rows {
  Index rows, cols;
  const float* dy;
  const float* x;
  const float* mean;
  const float* rstd;
  const float* gamma;
};

Rows rows_of(const Problem& p, const LayerNormBackward::Input& in) {
  return {p.rows, p.cols, in.dy.data(), in.x.data(), in.mean.data(), in.rstd.data(), in.gamma.data()};
}
Rows rows_of(const Problem& p, const RmsNormBackward::Input& in) {
  return {p.rows, p.cols, in.dy.data(), in.x.data(), nullptr, in.rstd.data(), in.gamma.data()};
}

template <class Real>
Real w_at(const Rows& in, Index r, Index j) {
  return static_cast<Real>(in.dy[r * in.cols + j]) * static_cast<Real>(in.gamma[j]);
}

template <class Real>
Real mean_at(const Rows& in, Index r) {
  return in.mean == nullptr ? Real{0} : static_cast<Real>(in.mean[r]);
}

/// The means of a row that its gradients need.
template <class Real>
struct Means {
  Real of_w = 0, of_w_xhat = 0;
};

/// Sums absolute values of the terms if `magnitudes`.
template <class Real>
Means<Real> means_of(const Rows& in, Index r, bool magnitudes = false) {
  const Real mean = mean_at<Real>(in, r), rstd = static_cast<Real>(in.rstd[r]);
  Means<Real> sum;
  for (Index j = 0; j < in.cols; ++j) {
    const Real w = w_at<Real>(in, r, j);
    const Real xhat = (static_cast<Real>(in.x[r * in.cols + j]) - mean) * rstd;
    sum.of_w += magnitudes ? std::abs(w) : w;
    sum.of_w_xhat += magnitudes ? std::abs(w * xhat) : w * xhat;
  }
  const auto n = static_cast<Real>(in.cols);
  return {sum.of_w / n, sum.of_w_xhat / n};
}

/// A problem without mean is rmsnorm, and dbeta is left alone.
void gradients(const Rows& in, float* dx, float* dgamma, float* dbeta) {
  const bool centred = in.mean != nullptr;
  for (Index j = 0; j < in.cols; ++j) dgamma[j] = 0;
  for (Index j = 0; centred && j < in.cols; ++j) dbeta[j] = 0;
  for (Index r = 0; r < in.rows; ++r) {
    const float mean = mean_at<float>(in, r), rstd = in.rstd[r];
    const Means<float> of = means_of<float>(in, r);
    const float of_w = centred ? of.of_w : 0;
    for (Index j = 0; j < in.cols; ++j) {
      const float dy = in.dy[r * in.cols + j];
      const float xhat = (in.x[r * in.cols + j] - mean) * rstd;
      dx[r * in.cols + j] = rstd * (w_at<float>(in, r, j) - of_w - xhat * of.of_w_xhat);
      dgamma[j] += dy * xhat;
      if (centred) dbeta[j] += dy;
    }
  }
}

void naive_layernorm(const Problem& p, const LayerNormBackward::Input& in, LayerNormBackward::Output& out) {
  gradients(rows_of(p, in), out.dx.data(), out.dgamma.data(), out.dbeta.data());
}

void naive_rmsnorm(const Problem& p, const RmsNormBackward::Input& in, RmsNormBackward::Output& out) {
  gradients(rows_of(p, in), out.dx.data(), out.dgamma.data(), nullptr);
}

/// Whether the sums of a problem come out without rounding.
struct Exact {
  bool over_cols = false, over_rows = false;
};

using Gradients = LayerNormBackward::Expected;

/// dx of those rows.
Expectation expect_dx(const Rows& in, const Positions& rows, bool exact) {
  // Roundings that each term meets besides those of its sum, as counted in the docstrings.
  const bool centred = in.mean != nullptr;
  const double of_w = 4 - !centred, of_mean = 5, of_xhat = centred ? 11 : 8;
  const double of_sum = exact ? 0 : static_cast<double>(in.cols);
  Expectation want{elements_of(rows, in.cols), {}, {}};
  for (Index next = 0; next < rows.size(); ++next) {
    const Index r = rows[next];
    const Means<double> of = means_of<double>(in, r), scale = means_of<double>(in, r, !exact);
    const double mean = mean_at<double>(in, r), rstd = in.rstd[r];
    for (Index j = 0; j < in.cols; ++j) {
      const double w = w_at<double>(in, r, j);
      const double xhat = (static_cast<double>(in.x[r * in.cols + j]) - mean) * rstd;
      want.value.push_back(rstd * (w - (centred ? of.of_w : 0) - xhat * of.of_w_xhat));
      want.bound.push_back(rstd * (g(of_w) * std::abs(w) +
                                   (centred ? g(of_sum + of_mean) * std::abs(scale.of_w) : 0) +
                                   g(of_sum + of_xhat) * std::abs(xhat * scale.of_w_xhat)));
    }
  }
  return want;
}

/// dgamma and dbeta of those columns, row by row, since few rows at a time fit into a cache.
void expect_sums_over_rows(const Rows& in, const Positions& columns, bool exact, Gradients& want) {
  const bool centred = in.mean != nullptr;
  const auto size = static_cast<std::size_t>(columns.size());
  want.dgamma = {columns, std::vector<double>(size), std::vector<double>(size)};
  if (centred) want.dbeta = want.dgamma;
  const auto m = static_cast<double>(in.rows);
  const double of_dgamma = exact ? 0 : g(m + (centred ? 2 : 1)), of_dbeta = exact ? 0 : g(m - 1);
  for (Index r = 0; r < in.rows; ++r) {
    const double mean = mean_at<double>(in, r), rstd = in.rstd[r];
    for (std::size_t i = 0; i < size; ++i) {
      const Index at = r * in.cols + columns[static_cast<Index>(i)];
      const double dy = in.dy[at], term = dy * ((static_cast<double>(in.x[at]) - mean) * rstd);
      want.dgamma.value[i] += term;
      want.dgamma.bound[i] += std::abs(term);
      if (!centred) continue;
      want.dbeta.value[i] += dy;
      want.dbeta.bound[i] += std::abs(dy);
    }
  }
  for (double& bound : want.dgamma.bound) bound *= of_dgamma;
  for (double& bound : want.dbeta.bound) bound *= of_dbeta;
}

Gradients expected(const Problem& p, const Rows& in, Exact exact, const Setting& setting) {
  Gradients want;
  want.dx = expect_dx(in, positions_of(p.rows, setting.units), exact.over_cols);
  expect_sums_over_rows(in, positions_of(p.cols, setting.units, p.rows), exact.over_rows, want);
  return want;
}

/// Terms of sums over a row are at most 9 times 6 1/8, those of sums over rows 3 times, in units of 1/16.
Exact exact_sums(const Problem& p, Fill fill) {
  return {fill == Fill::exact && static_cast<double>(p.cols) < 0x1p24 / 882,
          fill == Fill::exact && static_cast<double>(p.rows) < 0x1p24 / 294};
}

/// Gradients and parameters do not follow the data: with any fill but the exact one they are around zero.
Buffer<float> around_zero(Index count, Setting& setting) {
  auto out = setting.buffer<float>(count);
  for (float& value : out) {
    value = setting.fill == Fill::exact ? setting.draw() : static_cast<float>(setting.rng.uniform(-1, 1));
  }
  return out;
}

/// An eighth off the integers in the exact fill: else dx would now and then be 0, and the rounding of its
/// three terms would be judged.
Buffer<float> means(Index count, Setting& setting) {
  auto out = drawn(count, setting);
  for (float& mean : out) mean += setting.fill == Fill::exact ? 0.125F : 0.0F;
  return out;
}

Buffer<float> scales(Index count, Setting& setting) {
  auto out = setting.buffer<float>(count);
  for (float& rstd : out) {
    rstd = setting.fill == Fill::exact ? (setting.rng.integer(0, 1) == 0 ? 0.5F : 1.0F)
                                       : static_cast<float>(setting.rng.uniform(0.5, 2));
  }
  return out;
}

const Register registered{[](Registry& r) {
  constexpr auto summary = "one loop per row for its sums, one for its gradients";
  r.add<LayerNormBackward>({.name = "naive", .summary = summary, .run = naive_layernorm});
  r.add<RmsNormBackward>({.name = "naive", .summary = summary, .run = naive_rmsnorm});
}};

}  // namespace

auto LayerNormBackward::make_input(const Problem& p, Setting& setting) -> Input {
  Input in;
  in.dy = around_zero(p.rows * p.cols, setting);
  in.x = drawn(p.rows * p.cols, setting);
  in.mean = means(p.rows, setting);
  in.rstd = scales(p.rows, setting);
  in.gamma = around_zero(p.cols, setting);
  return in;
}

auto RmsNormBackward::make_input(const Problem& p, Setting& setting) -> Input {
  Input in;
  in.dy = around_zero(p.rows * p.cols, setting);
  in.x = drawn(p.rows * p.cols, setting);
  in.rstd = scales(p.rows, setting);
  in.gamma = around_zero(p.cols, setting);
  return in;
}

auto LayerNormBackward::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  return expected(p, rows_of(p, in), exact_sums(p, setting.fill), setting);
}

auto RmsNormBackward::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  Gradients want = expected(p, rows_of(p, in), exact_sums(p, setting.fill), setting);
  return {std::move(want.dx), std::move(want.dgamma)};
}

std::vector<Problem> layernorm::RowsAndColumns::corner_cases() {
  std::vector<Problem> out;
  for (const layernorm::Problem& p : layernorm::corner_cases()) {
    if (p.values == 0) out.push_back({.rows = p.rows, .cols = p.cols});
  }
  return out;
}

template class detail::TypedOperation<LayerNormBackward>;
template class detail::TypedOperation<RmsNormBackward>;

}  // namespace assay
