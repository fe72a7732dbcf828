#include "assay/ops/layernorm.hpp"

#include "assay/ops/arrays.hpp"
#include "assay/registry.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

namespace assay {
namespace {

using layernorm::epsilon;
using layernorm::Problem;
using layernorm::Statistic;
using rounding::g;

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

/// One row; returns its mean and 1 / sqrt.
std::pair<float, float> normalise(const float* x, const float* gamma, const float* beta, float* y,
                                  Index cols) {
  const float mean = mean_of<float>(x, cols);
  const float rstd = reciprocal_root(variance_around(mean, x, cols));
  for (Index j = 0; j < cols; ++j) y[j] = (x[j] - mean) * rstd * gamma[j] + beta[j];
  return {mean, rstd};
}

/// One row; returns its 1 / sqrt.
float scale(const float* x, const float* gamma, float* y, Index cols) {
  const float rstd = reciprocal_root(variance_around<float>(0, x, cols));
  for (Index j = 0; j < cols; ++j) y[j] = x[j] * rstd * gamma[j];
  return rstd;
}

void add_row(const float* x, const float* r, float* s, Index cols) {
  for (Index j = 0; j < cols; ++j) s[j] = x[j] + r[j];
}

void naive_layernorm(const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  for (Index r = 0; r < p.rows; ++r) {
    const Index at = r * p.cols;
    std::tie(out.mean[r], out.rstd[r]) =
        normalise(in.x.data() + at, in.gamma.data(), in.beta.data(), out.y.data() + at, p.cols);
  }
}

void naive_rmsnorm(const Problem& p, const RmsNorm::Input& in, RmsNorm::Output& out) {
  for (Index r = 0; r < p.rows; ++r) {
    const Index at = r * p.cols;
    out.rstd[r] = scale(in.x.data() + at, in.gamma.data(), out.y.data() + at, p.cols);
  }
}

void naive_layernorm_residual(const Problem& p, const LayerNormResidual::Input& in,
                              LayerNormResidual::Output& out) {
  for (Index r = 0; r < p.rows; ++r) {
    const Index at = r * p.cols;
    float* s = out.s.data() + at;
    add_row(in.x.data() + at, in.r.data() + at, s, p.cols);
    std::tie(out.mean[r], out.rstd[r]) =
        normalise(s, in.gamma.data(), in.beta.data(), out.y.data() + at, p.cols);
  }
}

void naive_rmsnorm_residual(const Problem& p, const RmsNormResidual::Input& in,
                            RmsNormResidual::Output& out) {
  for (Index r = 0; r < p.rows; ++r) {
    const Index at = r * p.cols;
    float* s = out.s.data() + at;
    add_row(in.x.data() + at, in.r.data() + at, s, p.cols);
    out.rstd[r] = scale(s, in.gamma.data(), out.y.data() + at, p.cols);
  }
}

Statistic empty_statistic(Index rows) {
  const auto size = static_cast<std::size_t>(rows);
  return {std::vector<double>(size), std::vector<double>(size), std::vector<double>(size)};
}

/// Element-wise `within`, with the bound of the side on which each element lies.
Agreement within_sides(std::string_view name, const Buffer<float>& actual, const Positions& rows,
                       const Statistic& want) {
  std::vector<double> bound = want.below;
  std::vector<double> value = want.value;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const float x = actual[rows[static_cast<Index>(i)]];
    if (x > want.value[i]) bound[i] = want.above[i];
    if (std::isinf(value[i]) && std::isnan(x) && !is_poison(x)) value[i] = static_cast<double>(x);  // a mean
  }
  return within({name, {actual.size()}}, actual, rows, value, bound);
}

/// Whether the sum of so many squares overflows in f32.
bool overflows(double mean_square, Index count) {
  constexpr double largest = std::numeric_limits<float>::max();
  return std::isfinite(mean_square) && mean_square * static_cast<double>(count) * (1 + 1e-3) > largest;
}

/// The most that products of x, `scale` and `gamma` lose where subnormal numbers are taken for 0, in any
/// order.
double underflow(double scale, double gamma) {
  return 0x1p-126 * (1 + std::abs(scale)) * (1 + std::abs(gamma));
}

/// Compares rows of an array [rows, cols] with element(row, column), a pair of value and bound.
template <class Element>
Agreement within_rows(std::string_view name, const Problem& p, const Positions& rows,
                      const Buffer<float>& actual, const Element& element) {
  const auto compare = [&](const Positions& some) {
    Expectation want{elements_of(some, p.cols), {}, {}};
    want.value.reserve(static_cast<std::size_t>(want.size()));
    want.bound.reserve(static_cast<std::size_t>(want.size()));
    for (Index next = 0; next < some.size(); ++next) {
      for (Index j = 0; j < p.cols; ++j) {
        const auto [value, bound] = element(some[next], j);
        want.value.push_back(value);
        want.bound.push_back(bound);
      }
    }
    return within({name, {p.rows, p.cols}}, actual, want);
  };
  // A few rows at a time: the expectation of millions of elements would fill memory to be read once.
  constexpr Index elements_at_a_time = 1 << 13;
  const Index few = std::max<Index>(1, elements_at_a_time / p.cols);
  Agreement out;
  for (Index next = 0; next < rows.size(); next += few) {
    Positions some{.count = rows.count, .all = false, .where = {}};
    for (Index i = next; i < std::min(next + few, rows.size()); ++i) some.where.push_back(rows[i]);
    out = out & compare(some);
    if (!out.agrees) return compare(rows);  // tells of all rows
  }
  out.total = actual.size();
  return out;
}

/// Returns the expected mean and 1 / sqrt of those rows; x_of(row) is where one lies.
template <class Row>
LayerNorm::Expected expect_layernorm(const Problem& p, const Positions& rows, Row x_of) {
  LayerNorm::Expected want{rows, empty_statistic(rows.size()), empty_statistic(rows.size())};
  const auto n = static_cast<double>(p.cols);
  for (Index next = 0; next < rows.size(); ++next) {
    const auto at = static_cast<std::size_t>(next);
    const float* x = x_of(rows[next]);
    const auto mean = mean_of<double>(x, p.cols);
    const double variance = variance_around(mean, x, p.cols);
    double magnitude = 0;
    for (Index j = 0; j < p.cols; ++j) magnitude += std::abs(static_cast<double>(x[j])) / n;

    want.mean.value[at] = mean;
    want.rstd.value[at] = reciprocal_root(variance);
    if (!std::isfinite(variance)) continue;  // the same value
    const double mean_error = g(n + 1) * magnitude + 0x1p-126;
    want.mean.below[at] = want.mean.above[at] = mean_error;

    const double h = g(n + 5);
    const double spread = variance + mean_error * mean_error;
    const double least = reciprocal_root(spread * (1 + h)) * (1 - g(3));
    const double most = reciprocal_root(std::max(0.0, variance - 4 * h * spread)) * (1 + g(3));
    want.rstd.below[at] = overflows(spread, p.cols) ? want.rstd.value[at] : want.rstd.value[at] - least;
    want.rstd.above[at] = most - want.rstd.value[at];
  }
  return want;
}

template <class Row>
Statistic expect_rmsnorm(const Problem& p, const Positions& rows, bool exact_sum, Row x_of) {
  Statistic want = empty_statistic(rows.size());
  for (Index next = 0; next < rows.size(); ++next) {
    const auto at = static_cast<std::size_t>(next);
    const double mean_square = variance_around<double>(0, x_of(rows[next]), p.cols);
    const double rstd = reciprocal_root(mean_square);
    want.value[at] = rstd;
    if (!std::isfinite(mean_square)) continue;  // the same value
    want.above[at] = g(exact_sum ? 5 : static_cast<double>(p.cols) / 2 + 5) * rstd;
    want.below[at] = overflows(mean_square, p.cols) ? rstd : want.above[at];
  }
  return want;
}

/// Judges y of the rows at `x` by the statistics that were written with it.
Agreement judge_layernorm(const Problem& p, const Positions& rows, const float* x, const Buffer<float>& gamma,
                          const Buffer<float>& beta, const Buffer<float>& mean, const Buffer<float>& rstd,
                          const Buffer<float>& y) {
  return within_rows("y", p, rows, y, [&](Index r, Index j) {
    const double m = mean[r];
    const double scale = static_cast<double>(rstd[r]) * static_cast<double>(gamma[j]);
    const double term = (static_cast<double>(x[r * p.cols + j]) - m) * scale, shift = beta[j];
    const double bound =
        g(5) * (std::abs(term) + std::abs(shift)) + g(1) * std::abs(m * scale) + underflow(rstd[r], gamma[j]);
    return std::pair{term + shift, std::isfinite(term) ? bound : 0};
  });
}

Agreement judge_rmsnorm(const Problem& p, const Positions& rows, const float* x, const Buffer<float>& gamma,
                        const Buffer<float>& rstd, const Buffer<float>& y) {
  return within_rows("y", p, rows, y, [&](Index r, Index j) {
    const double value =
        static_cast<double>(x[r * p.cols + j]) * static_cast<double>(rstd[r]) * static_cast<double>(gamma[j]);
    return std::pair{value, std::isfinite(value) ? g(3) * std::abs(value) + underflow(rstd[r], gamma[j]) : 0};
  });
}

/// Returns a function that says where a row of `x` lies.
auto rows_of(const Problem& p, const Buffer<float>& x) {
  return [&x, cols = p.cols](Index row) { return x.data() + row * cols; };
}

/// Returns a function that makes a row of x + r in single precision, where each element has one right value.
/// The row stays until the next call.
auto sums_of(const Problem& p, const Buffer<float>& x, const Buffer<float>& r) {
  return [&x, &r, s = std::vector<float>(static_cast<std::size_t>(p.cols))](Index row) mutable {
    const auto cols = static_cast<Index>(s.size());
    add_row(x.data() + row * cols, r.data() + row * cols, s.data(), cols);
    return std::as_const(s).data();
  };
}

Agreement judge_sums(const Problem& p, const Positions& rows, const Buffer<float>& x, const Buffer<float>& r,
                     const Buffer<float>& s) {
  return within_rows("s", p, rows, s, [&](Index row, Index j) {
    const float sum = x[row * p.cols + j] + r[row * p.cols + j];
    return std::pair{static_cast<double>(sum), 0.0};
  });
}

/// Parameters do not follow the data: with any fill they are near 1 or 0 in a network.
Buffer<float> parameters(Index count, Setting& setting) {
  auto out = setting.buffer<float>(count);
  for (float& value : out) value = static_cast<float>(setting.rng.uniform(-1, 1));
  return out;
}

/// Rows of the kind that the problem names.
Buffer<float> rows_drawn(const Problem& p, Setting& setting) {
  Rng& rng = setting.rng;
  const auto element = [&]() -> double {
    switch (p.values) {
      case 1: return 3.3;
      case 2: return 1e15 * rng.uniform(-1, 1);
      case 3: return 1e20 * rng.uniform(-1, 1);
      case 4: return std::pow(10, rng.uniform(-30, -18)) * (rng.unit() < 0.5 ? 1 : -1);
      default: return setting.draw();
    }
  };
  auto out = setting.buffer<float>(p.rows * p.cols);
  for (float& x : out) x = static_cast<float>(element());
  if (p.values == 5) make_some_infinite(out, 1 + p.rows / 3, rng);
  return out;
}

/// Whether the sum of a row's squares comes out without rounding.
bool exact_squares(const Problem& p, Fill fill) {
  return (p.values == 0 || p.values == 5) && fill == Fill::exact && static_cast<double>(p.cols) < 0x1p24 / 9;
}

double elements(const Problem& p) { return product(p.rows, p.cols); }

/// Each array read or written once; a row stays in a cache between the passes over it. `streams`: arrays of
/// the size of x that are read, and written.
Cost cost_of(const Problem& p, double streams, double flops_per_element, double vectors, double statistics) {
  const double rows = static_cast<double>(p.rows), cols = static_cast<double>(p.cols);
  return {.flops = flops_per_element * elements(p),
          .bytes_read = 4 * (streams * elements(p) + vectors * cols),
          .bytes_written = 4 * (streams * elements(p) + statistics * rows)};
}

const Register registered{[](Registry& r) {
  constexpr auto centred = "mean, variance and result in one loop each per row";
  constexpr auto scaled = "mean square and result in one loop each per row";
  r.add<LayerNorm>({.name = "naive", .summary = centred, .run = naive_layernorm});
  r.add<RmsNorm>({.name = "naive", .summary = scaled, .run = naive_rmsnorm});
  r.add<LayerNormResidual>({.name = "naive", .summary = centred, .run = naive_layernorm_residual});
  r.add<RmsNormResidual>({.name = "naive", .summary = scaled, .run = naive_rmsnorm_residual});
}};

}  // namespace

std::vector<Problem> layernorm::Rows::corner_cases() {
  std::vector<Problem> out;
  // Around the lane counts 4, 8, 16, unrolled blocks of four vectors, and groups of four rows.
  for (const Index cols : {1, 2, 3, 5, 15, 16, 17, 31, 33, 63, 65, 127, 257}) {
    for (const Index rows : {1, 2, 3, 7}) out.push_back({.rows = rows, .cols = cols});
  }
  // Every number of elements that whole vectors leave over, below one vector and after several.
  for (Index cols = 4; cols < 16; ++cols) out.push_back({.rows = 5, .cols = cols});
  for (Index cols = 66; cols < 82; ++cols) out.push_back({.rows = 4, .cols = cols});
  // The rows of language models.
  for (const Index cols : {768, 1023}) out.push_back({.rows = 3, .cols = cols});
  out.push_back({.rows = 2, .cols = 4099});
  // Beyond the size below which a threaded variant stays on one thread.
  out.push_back({.rows = 97, .cols = 1025});
  for (Index values = 1; values < static_cast<Index>(value_words.size()); ++values) {
    // At one column y is beta, which the rounding of a large mean hides.
    for (const Index cols : {17, 67, 1023}) out.push_back({.rows = 9, .cols = cols, .values = values});
    out.push_back({.rows = 97, .cols = 1025, .values = values});
  }
  return out;
}

Index layernorm::Rows::units(const Problem& p) { return p.rows; }

double LayerNorm::footprint(const Problem& p) {
  // x, y, and the expectation of y with its bound.
  return 24 * elements(p) + 8 * static_cast<double>(p.cols) + 56 * static_cast<double>(p.rows);
}

double RmsNorm::footprint(const Problem& p) {
  return 24 * elements(p) + 4 * static_cast<double>(p.cols) + 28 * static_cast<double>(p.rows);
}

// r and s besides; the expectation of s is gone before y is judged.
double LayerNormResidual::footprint(const Problem& p) {
  return 32 * elements(p) + 8 * static_cast<double>(p.cols) + 56 * static_cast<double>(p.rows);
}

double RmsNormResidual::footprint(const Problem& p) {
  return 32 * elements(p) + 4 * static_cast<double>(p.cols) + 28 * static_cast<double>(p.rows);
}

auto LayerNorm::make_input(const Problem& p, Setting& setting) -> Input {
  Input in;
  in.x = rows_drawn(p, setting);
  in.gamma = parameters(p.cols, setting);
  in.beta = parameters(p.cols, setting);
  return in;
}

auto RmsNorm::make_input(const Problem& p, Setting& setting) -> Input {
  Input in;
  in.x = rows_drawn(p, setting);
  in.gamma = drawn(p.cols, setting);
  return in;
}

auto LayerNormResidual::make_input(const Problem& p, Setting& setting) -> Input {
  Input in;
  in.x = rows_drawn(p, setting);
  // The residual that a block adds is around zero.
  in.r = p.values == 0 ? parameters(p.rows * p.cols, setting) : rows_drawn(p, setting);
  in.gamma = parameters(p.cols, setting);
  in.beta = parameters(p.cols, setting);
  // At one column y is beta, and must be larger than what the rounded mean of the fill `offset` allows.
  for (float& beta : in.beta) beta = std::copysign(0.5F + std::abs(beta) / 2, beta);
  return in;
}

auto RmsNormResidual::make_input(const Problem& p, Setting& setting) -> Input {
  Input in;
  in.x = rows_drawn(p, setting);
  in.gamma = drawn(p.cols, setting);
  in.r = rows_drawn(p, setting);
  if (setting.fill == Fill::exact && p.values == 0) {
    // The sum, not x, is what rmsnorm has: a small integer other than 0.
    std::ranges::transform(in.x, in.r, in.x.begin(), std::minus<>());
  }
  return in;
}

auto LayerNorm::make_output(const Problem& p, const Input&, const Setting& setting) -> Output {
  return {setting.buffer<float>(p.rows * p.cols), setting.buffer<float>(p.rows),
          setting.buffer<float>(p.rows)};
}

auto RmsNorm::make_output(const Problem& p, const Input&, const Setting& setting) -> Output {
  return {setting.buffer<float>(p.rows * p.cols), setting.buffer<float>(p.rows)};
}

auto LayerNormResidual::make_output(const Problem& p, const Input&, const Setting& setting) -> Output {
  return {setting.buffer<float>(p.rows * p.cols), setting.buffer<float>(p.rows * p.cols),
          setting.buffer<float>(p.rows), setting.buffer<float>(p.rows)};
}

auto RmsNormResidual::make_output(const Problem& p, const Input&, const Setting& setting) -> Output {
  return {setting.buffer<float>(p.rows * p.cols), setting.buffer<float>(p.rows * p.cols),
          setting.buffer<float>(p.rows)};
}

auto LayerNorm::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  return expect_layernorm(p, positions_of(p.rows, setting.units), rows_of(p, in.x));
}

auto RmsNorm::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Positions rows = positions_of(p.rows, setting.units);
  return {rows, expect_rmsnorm(p, rows, exact_squares(p, setting.fill), rows_of(p, in.x))};
}

auto LayerNormResidual::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  LayerNorm::Expected want = expect_layernorm(p, positions_of(p.rows, setting.units), sums_of(p, in.x, in.r));
  return {want, std::move(want.mean), std::move(want.rstd)};
}

auto RmsNormResidual::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Positions rows = positions_of(p.rows, setting.units);
  return {rows, expect_rmsnorm(p, rows, exact_squares(p, setting.fill), sums_of(p, in.x, in.r))};
}

Agreement LayerNorm::judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  return within_sides("mean", out.mean, want, want.mean) & within_sides("rstd", out.rstd, want, want.rstd) &
         judge_layernorm(p, want, in.x.data(), in.gamma, in.beta, out.mean, out.rstd, out.y);
}

Agreement RmsNorm::judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  return within_sides("rstd", out.rstd, want, want.rstd) &
         judge_rmsnorm(p, want, in.x.data(), in.gamma, out.rstd, out.y);
}

// Once s has passed, y may be judged from it.
Agreement LayerNormResidual::judge(const Problem& p, const Input& in, const Expected& want,
                                   const Output& out) {
  return judge_sums(p, want, in.x, in.r, out.s) & within_sides("mean", out.mean, want, want.mean) &
         within_sides("rstd", out.rstd, want, want.rstd) &
         judge_layernorm(p, want, out.s.data(), in.gamma, in.beta, out.mean, out.rstd, out.y);
}

Agreement RmsNormResidual::judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  return judge_sums(p, want, in.x, in.r, out.s) & within_sides("rstd", out.rstd, want, want.rstd) &
         judge_rmsnorm(p, want, out.s.data(), in.gamma, out.rstd, out.y);
}

// Per element: the sum, a difference, a square and its sum, then a difference, two products and a sum.
Cost LayerNorm::cost(const Problem& p) { return cost_of(p, 1, 8, 2, 2); }
Cost LayerNormResidual::cost(const Problem& p) { return cost_of(p, 2, 9, 2, 2); }

// Per element: a square and its sum, then two products.
Cost RmsNorm::cost(const Problem& p) { return cost_of(p, 1, 4, 1, 1); }
Cost RmsNormResidual::cost(const Problem& p) { return cost_of(p, 2, 5, 1, 1); }

template class detail::TypedOperation<LayerNorm>;
template class detail::TypedOperation<RmsNorm>;
template class detail::TypedOperation<LayerNormResidual>;
template class detail::TypedOperation<RmsNormResidual>;

}  // namespace assay
