#include "assay/ops/layernorm.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

namespace assay {
namespace {

using layernorm::epsilon;
using layernorm::Expected;
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

template <class Op>
constexpr bool centred = requires(const typename Op::Output out) {
  out.mean;
};
template <class Op>
constexpr bool adds = requires(const typename Op::Output out) {
  out.s;
};

template <class Op>
void naive(const Problem& p, const typename Op::Input& in, typename Op::Output& out) {
  for (Index r = 0; r < p.rows; ++r) {
    const Index at = r * p.cols;
    const float* x = in.x.data() + at;
    float* const y = out.y.data() + at;
    if constexpr (adds<Op>) {
      add_row(x, in.r.data() + at, out.s.data() + at, p.cols);
      x = out.s.data() + at;
    }
    if constexpr (centred<Op>) {
      std::tie(out.mean[r], out.rstd[r]) = normalise(x, in.gamma.data(), in.beta.data(), y, p.cols);
    } else {
      out.rstd[r] = scale(x, in.gamma.data(), y, p.cols);
    }
  }
}

Statistic empty_statistic(Index rows) {
  const auto size = static_cast<std::size_t>(rows);
  return {std::vector<double>(size), std::vector<double>(size), std::vector<double>(size)};
}

/// Element-wise `within`, with the bound of the side on which each element lies.
Agreement within_sides(std::string_view name, const Buffer<float>& actual, const Positions& rows,
                       const Statistic& want) {
  Expectation sided{rows, want.value, want.below};
  for (std::size_t i = 0; i < sided.bound.size(); ++i) {
    const float x = actual[rows[static_cast<Index>(i)]];
    if (x > want.value[i]) sided.bound[i] = want.above[i];
    if (std::isinf(sided.value[i]) && std::isnan(x) && !is_poison(x)) {
      sided.value[i] = static_cast<double>(x);  // a mean
    }
  }
  return within({name, {actual.size()}}, actual, sided);
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
    const Expectation want = expect_at(elements_of(some, p.cols),
                                       [&](Index flat) { return element(flat / p.cols, flat % p.cols); });
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

/// The mean and 1 / sqrt of the row x, which is the one at `at` among those expected.
void expect_layernorm(const Problem& p, const float* x, std::size_t at, Statistic& mean_of_row,
                      Statistic& rstd) {
  const auto n = static_cast<double>(p.cols);
  const auto mean = mean_of<double>(x, p.cols);
  const double variance = variance_around(mean, x, p.cols);
  double magnitude = 0;
  for (Index j = 0; j < p.cols; ++j) magnitude += std::abs(static_cast<double>(x[j])) / n;

  mean_of_row.value[at] = mean;
  rstd.value[at] = reciprocal_root(variance);
  if (!std::isfinite(variance)) return;  // the same value
  const double mean_error = g(n + 1) * magnitude + 0x1p-126;
  mean_of_row.below[at] = mean_of_row.above[at] = mean_error;

  const double h = g(n + 5);
  const double spread = variance + mean_error * mean_error;
  const double least = reciprocal_root(spread * (1 + h)) * (1 - g(3));
  const double most = reciprocal_root(std::max(0.0, variance - 4 * h * spread)) * (1 + g(3));
  rstd.below[at] = overflows(spread, p.cols) ? rstd.value[at] : rstd.value[at] - least;
  rstd.above[at] = most - rstd.value[at];
}

void expect_rmsnorm(const Problem& p, const float* x, std::size_t at, bool exact_sum, Statistic& rstd) {
  const double mean_square = variance_around<double>(0, x, p.cols);
  rstd.value[at] = reciprocal_root(mean_square);
  if (!std::isfinite(mean_square)) return;  // the same value
  rstd.above[at] = g(exact_sum ? 5 : static_cast<double>(p.cols) / 2 + 5) * rstd.value[at];
  rstd.below[at] = overflows(mean_square, p.cols) ? rstd.value[at] : rstd.above[at];
}

/// Whether the sum of a row's squares comes out without rounding.
bool exact_squares(const Problem& p, Fill fill) {
  return (p.values == 0 || p.values == 5) && fill == Fill::exact && static_cast<double>(p.cols) < 0x1p24 / 9;
}

template <class Op>
Expected expected(const Problem& p, const typename Op::Input& in, const Setting& setting) {
  const Positions rows = positions_of(p.rows, setting.units);
  Expected want{rows, empty_statistic(rows.size()), empty_statistic(centred<Op> ? rows.size() : 0)};
  std::vector<float> sums(static_cast<std::size_t>(p.cols));
  for (Index next = 0; next < rows.size(); ++next) {
    const auto at = static_cast<std::size_t>(next);
    const float* x = in.x.data() + rows[next] * p.cols;
    if constexpr (adds<Op>) {
      // In single precision, where each element has one right value.
      add_row(x, in.r.data() + rows[next] * p.cols, sums.data(), p.cols);
      x = sums.data();
    }
    if constexpr (centred<Op>) {
      expect_layernorm(p, x, at, want.mean, want.rstd);
    } else {
      expect_rmsnorm(p, x, at, exact_squares(p, setting.fill), want.rstd);
    }
  }
  return want;
}

/// Judges y by the statistics that were written with it, and by s.
template <class Op>
Agreement judged(const Problem& p, const typename Op::Input& in, const Expected& want,
                 const typename Op::Output& out) {
  Agreement found;
  const float* x = in.x.data();
  if constexpr (adds<Op>) {
    found = within_rows("s", p, want, out.s, [&](Index r, Index j) {
      const float sum = in.x[r * p.cols + j] + in.r[r * p.cols + j];
      return std::pair{static_cast<double>(sum), 0.0};
    });
    x = out.s.data();
  }
  if constexpr (centred<Op>) found = found & within_sides("mean", out.mean, want, want.mean);
  found = found & within_sides("rstd", out.rstd, want, want.rstd);
  return found & within_rows("y", p, want, out.y, [&](Index r, Index j) {
           const double rstd = out.rstd[r], gamma = in.gamma[j], at = x[r * p.cols + j];
           if constexpr (centred<Op>) {
             const double m = out.mean[r], scale = rstd * gamma, term = (at - m) * scale, shift = in.beta[j];
             const double bound = g(5) * (std::abs(term) + std::abs(shift)) + g(1) * std::abs(m * scale) +
                                  underflow(rstd, gamma);
             return std::pair{term + shift, std::isfinite(term) ? bound : 0};
           } else {
             const double value = at * rstd * gamma, bound = g(3) * std::abs(value) + underflow(rstd, gamma);
             return std::pair{value, std::isfinite(value) ? bound : 0};
           }
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

const Register registered{[](Registry& r) {
  constexpr auto moments = "mean, variance and result in one loop each per row";
  constexpr auto scaled = "mean square and result in one loop each per row";
  r.add<LayerNorm>({.name = "naive", .summary = moments, .run = naive<LayerNorm>});
  r.add<RmsNorm>({.name = "naive", .summary = scaled, .run = naive<RmsNorm>});
  r.add<LayerNormResidual>({.name = "naive", .summary = moments, .run = naive<LayerNormResidual>});
  r.add<RmsNormResidual>({.name = "naive", .summary = scaled, .run = naive<RmsNormResidual>});
}};

}  // namespace

std::vector<Problem> layernorm::corner_cases() {
  return problems<Problem>(
      {// Around the lane counts 4, 8, 16, unrolled blocks of four vectors, and groups of four rows.
       "rows=1|2|3|7,cols=1|2|3|5|15|16|17|31|33|63|65|127|257",
       // Every number of elements that whole vectors leave over, below one vector and after several.
       "rows=5,cols=4|5|6|7|8|9|10|11|12|13|14|15",
       "rows=4,cols=66|67|68|69|70|71|72|73|74|75|76|77|78|79|80|81",
       // The rows of language models.
       "rows=3,cols=768|1023", "rows=2,cols=4099",
       // Beyond the size below which a threaded variant stays on one thread.
       "rows=97,cols=1025",
       // At one column y is beta, which the rounding of a large mean hides.
       "rows=9,cols=17|67|1023,values=equal|large|huge|tiny|special",
       "rows=97,cols=1025,values=equal|large|huge|tiny|special"});
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

auto LayerNorm::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  return expected<LayerNorm>(p, in, setting);
}
Agreement LayerNorm::judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  return judged<LayerNorm>(p, in, want, out);
}

auto RmsNorm::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  return expected<RmsNorm>(p, in, setting);
}
Agreement RmsNorm::judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  return judged<RmsNorm>(p, in, want, out);
}

auto LayerNormResidual::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  return expected<LayerNormResidual>(p, in, setting);
}
Agreement LayerNormResidual::judge(const Problem& p, const Input& in, const Expected& want,
                                   const Output& out) {
  return judged<LayerNormResidual>(p, in, want, out);
}

auto RmsNormResidual::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  return expected<RmsNormResidual>(p, in, setting);
}
Agreement RmsNormResidual::judge(const Problem& p, const Input& in, const Expected& want, const Output& out) {
  return judged<RmsNormResidual>(p, in, want, out);
}

template class detail::TypedOperation<LayerNorm>;
template class detail::TypedOperation<RmsNorm>;
template class detail::TypedOperation<LayerNormResidual>;
template class detail::TypedOperation<RmsNormResidual>;

}  // namespace assay
