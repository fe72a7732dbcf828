#include "assay/ops/layernorm.hpp"

#include "assay/registry.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

using layernorm::epsilon;
using layernorm::Problem;
using layernorm::Statistic;

template <class Real>
Real mean_of(const float* x, Index cols) {
  Real sum = 0;
  for (Index j = 0; j < cols; ++j) sum += static_cast<Real>(x[j]);
  return sum / static_cast<Real>(cols);
}

/// The biased variance: divided by the number of elements.
template <class Real>
Real variance_around(Real mean, const float* x, Index cols) {
  Real sum = 0;
  for (Index j = 0; j < cols; ++j) {
    const Real deviation = static_cast<Real>(x[j]) - mean;
    sum += deviation * deviation;
  }
  return sum / static_cast<Real>(cols);
}

template <class Real>
Real reciprocal_root(Real spread) {
  return 1 / std::sqrt(spread + static_cast<Real>(epsilon));
}

void naive_layernorm(const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = in.x.data() + r * p.cols;
    float* y = out.y.data() + r * p.cols;
    const float mean = mean_of<float>(x, p.cols);
    const float rstd = reciprocal_root(variance_around(mean, x, p.cols));
    for (Index j = 0; j < p.cols; ++j) y[j] = (x[j] - mean) * rstd * in.gamma[j] + in.beta[j];
    out.mean[r] = mean;
    out.rstd[r] = rstd;
  }
}

void naive_rmsnorm(const Problem& p, const RmsNorm::Input& in, RmsNorm::Output& out) {
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = in.x.data() + r * p.cols;
    float* y = out.y.data() + r * p.cols;
    const float rstd = reciprocal_root(variance_around<float>(0, x, p.cols));
    for (Index j = 0; j < p.cols; ++j) y[j] = x[j] * rstd * in.gamma[j];
    out.rstd[r] = rstd;
  }
}

/// The constant of r roundings, as in Higham, lemma 3.1.
double g(double roundings) {
  constexpr double u = 0x1p-24;
  return roundings * u / (1 - roundings * u);
}

Statistic empty_statistic(Index rows) {
  const auto size = static_cast<std::size_t>(rows);
  return {std::vector<double>(size), std::vector<double>(size), std::vector<double>(size)};
}

/// Element-wise `within`, with the bound of the side on which each element lies.
Agreement within_sides(std::string_view name, const Buffer<float>& actual, const Statistic& want) {
  std::vector<double> bound = want.below;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (actual[static_cast<Index>(i)] > want.value[i]) bound[i] = want.above[i];
  }
  return within({name, {actual.size()}}, actual, want.value, bound);
}

/// y and its bound from f(row, column), a pair of both.
template <class Element>
Agreement within_rows(const Problem& p, const Buffer<float>& y, const Element& element) {
  std::vector<double> want, bound;
  want.reserve(static_cast<std::size_t>(y.size()));
  bound.reserve(static_cast<std::size_t>(y.size()));
  for (Index r = 0; r < p.rows; ++r) {
    for (Index j = 0; j < p.cols; ++j) {
      const auto [value, error] = element(r, j);
      want.push_back(value);
      bound.push_back(error);
    }
  }
  return within({"y", {p.rows, p.cols}}, y, want, bound);
}

std::vector<Problem> corners() {
  std::vector<Problem> out;
  // Around the lane counts 4, 8, 16, unrolled blocks of four vectors, and the rows of language models.
  for (const Index cols : {1, 2, 3, 5, 15, 16, 17, 31, 33, 63, 65, 127, 257}) {
    for (const Index rows : {1, 2, 3, 7}) out.push_back({.rows = rows, .cols = cols});
  }
  for (const Index cols : {768, 1023}) out.push_back({.rows = 3, .cols = cols});
  out.push_back({.rows = 2, .cols = 4099});
  // Beyond the size below which a threaded variant stays on one thread.
  out.push_back({.rows = 67, .cols = 1025});
  return out;
}

double elements(const Problem& p) { return static_cast<double>(p.rows) * static_cast<double>(p.cols); }

/// Read once and written once; x stays in a cache between the passes over its row.
Cost cost_of(const Problem& p, double flops_per_element, double vectors, double statistics) {
  const double rows = static_cast<double>(p.rows), cols = static_cast<double>(p.cols);
  return {.flops = flops_per_element * elements(p),
          .bytes_read = 4 * (elements(p) + vectors * cols),
          .bytes_written = 4 * (elements(p) + statistics * rows)};
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>({.name = "naive",
                    .summary = "mean, variance and result in one loop each per row",
                    .run = naive_layernorm});
  r.add<RmsNorm>(
      {.name = "naive", .summary = "mean square and result in one loop each per row", .run = naive_rmsnorm});
}};

}  // namespace

std::vector<Problem> LayerNorm::corner_cases() { return corners(); }
std::vector<Problem> RmsNorm::corner_cases() { return corners(); }

double LayerNorm::footprint(const Problem& p) {
  // x, y, and what is expected of y with its bound.
  return 24 * elements(p) + 8 * static_cast<double>(p.cols) + 56 * static_cast<double>(p.rows);
}

double RmsNorm::footprint(const Problem& p) {
  return 24 * elements(p) + 4 * static_cast<double>(p.cols) + 28 * static_cast<double>(p.rows);
}

auto LayerNorm::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{setting.buffer<float>(p.rows * p.cols), setting.buffer<float>(p.cols),
           setting.buffer<float>(p.cols)};
  for (float& x : in.x) x = setting.draw();
  // Parameters do not follow the data: with any fill they are near 1 or 0 in a network.
  for (float& gamma : in.gamma) gamma = static_cast<float>(setting.rng.uniform(-1, 1));
  for (float& beta : in.beta) beta = static_cast<float>(setting.rng.uniform(-1, 1));
  return in;
}

auto RmsNorm::make_input(const Problem& p, Setting& setting) -> Input {
  Input in{setting.buffer<float>(p.rows * p.cols), setting.buffer<float>(p.cols)};
  for (float& x : in.x) x = setting.draw();
  for (float& gamma : in.gamma) gamma = setting.draw();
  return in;
}

auto LayerNorm::make_output(const Problem& p, const Input&, const Setting& setting) -> Output {
  return {setting.buffer<float>(p.rows * p.cols), setting.buffer<float>(p.rows),
          setting.buffer<float>(p.rows)};
}

auto RmsNorm::make_output(const Problem& p, const Input&, const Setting& setting) -> Output {
  return {setting.buffer<float>(p.rows * p.cols), setting.buffer<float>(p.rows)};
}

auto LayerNorm::expect(const Problem& p, const Input& in, Setting&) -> Expected {
  Expected want{empty_statistic(p.rows), empty_statistic(p.rows)};
  const auto n = static_cast<double>(p.cols);
  for (Index r = 0; r < p.rows; ++r) {
    const auto at = static_cast<std::size_t>(r);
    const float* x = in.x.data() + r * p.cols;
    const auto mean = mean_of<double>(x, p.cols);
    const double variance = variance_around(mean, x, p.cols);
    double magnitude = 0;
    for (Index j = 0; j < p.cols; ++j) magnitude += std::abs(static_cast<double>(x[j])) / n;

    const double mean_error = g(n + 1) * magnitude;
    want.mean.value[at] = mean;
    want.mean.below[at] = want.mean.above[at] = mean_error;

    const double h = g(n + 5);
    const double spread = variance + mean_error * mean_error;
    const double least = reciprocal_root(spread * (1 + h)) * (1 - g(3));
    const double most = reciprocal_root(std::max(0.0, variance - 4 * h * spread)) * (1 + g(3));
    want.rstd.value[at] = reciprocal_root(variance);
    want.rstd.below[at] = want.rstd.value[at] - least;
    want.rstd.above[at] = most - want.rstd.value[at];
  }
  return want;
}

auto RmsNorm::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  Expected want{empty_statistic(p.rows)};
  const auto n = static_cast<double>(p.cols);
  const bool exact_sum = setting.fill == Fill::exact && n < 0x1p24 / 9;
  for (Index r = 0; r < p.rows; ++r) {
    const auto at = static_cast<std::size_t>(r);
    const double rstd = reciprocal_root(variance_around<double>(0, in.x.data() + r * p.cols, p.cols));
    want.rstd.value[at] = rstd;
    want.rstd.below[at] = want.rstd.above[at] = g(exact_sum ? 5 : n / 2 + 5) * rstd;
  }
  return want;
}

Agreement LayerNorm::judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  const Agreement statistics =
      within_sides("mean", out.mean, want.mean) & within_sides("rstd", out.rstd, want.rstd);
  return statistics & within_rows(p, out.y, [&](Index r, Index j) {
           const double x = in.x[r * p.cols + j], mean = out.mean[r];
           const double scale = static_cast<double>(out.rstd[r]) * static_cast<double>(in.gamma[j]);
           const double term = (x - mean) * scale, beta = in.beta[j];
           const double error = g(5) * (std::abs(term) + std::abs(beta)) + g(1) * std::abs(mean * scale);
           return std::pair{term + beta, error};
         });
}

Agreement RmsNorm::judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  return within_sides("rstd", out.rstd, want.rstd) & within_rows(p, out.y, [&](Index r, Index j) {
           const double value = static_cast<double>(in.x[r * p.cols + j]) * static_cast<double>(out.rstd[r]) *
                                static_cast<double>(in.gamma[j]);
           return std::pair{value, g(3) * std::abs(value)};
         });
}

// Per element: the sum, a difference, a square and its sum, then a difference, two products and a sum.
Cost LayerNorm::cost(const Problem& p) { return cost_of(p, 8, 2, 2); }

// Per element: a square and its sum, then two products.
Cost RmsNorm::cost(const Problem& p) { return cost_of(p, 4, 1, 1); }

}  // namespace assay
