#include "assay/ops/layernorm.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

namespace assay {
namespace {

using batch_norm::each_in_channel;
using layernorm::BackwardProblem;
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

/// Returns (x - mean) rstd gamma + beta and its bound, of so many roundings of the terms and of the mean.
std::pair<double, double> scaled_and_shifted(double x, double mean, double rstd, double gamma, double beta,
                                             double roundings, double of_mean) {
  const double scale = rstd * gamma, term = (x - mean) * scale;
  const double bound = g(roundings) * (std::abs(term) + std::abs(beta)) + g(of_mean) * std::abs(mean * scale);
  return {term + beta, std::isfinite(term) ? bound + underflow(rstd, gamma) : 0};
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

/// The inputs of both contracts. rmsnorm has no mean: it counts as 0.
struct Rows {
  Index rows, cols;
  const float* dy;
  const float* x;
  const float* mean;
  const float* rstd;
  const float* gamma;
};

template <class Input>
Rows rows_of(const BackwardProblem& p, const Input& in) {
  const float* mean = nullptr;
  if constexpr (requires { in.mean; }) mean = in.mean.data();
  return {p.rows, p.cols, in.dy.data(), in.x.data(), mean, in.rstd.data(), in.gamma.data()};
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

template <class Op>
void naive_backward(const BackwardProblem& p, const typename Op::Input& in, typename Op::Output& out) {
  float* dbeta = nullptr;
  if constexpr (requires { out.dbeta; }) dbeta = out.dbeta.data();
  gradients(rows_of(p, in), out.dx.data(), out.dgamma.data(), dbeta);
}

using Gradients = LayerNormBackward::Expected;

/// dx of those rows.
Expectation expect_dx(const Rows& in, const Positions& rows, bool exact) {
  // Roundings that each term meets besides those of its sum, as counted in the docstrings.
  const bool centred = in.mean != nullptr;
  const double of_w = 4 - !centred, of_mean = 5, of_xhat = centred ? 11 : 8;
  const double of_sum = exact ? 0 : static_cast<double>(in.cols);
  Expectation want(elements_of(rows, in.cols));
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

/// Whether a sum of `count` terms, each at most `largest` units of 1/16, comes out without rounding.
bool sum_is_exact(const Setting& setting, Index count, double largest) {
  return setting.fill == Fill::exact && static_cast<double>(count) < 0x1p24 / largest;
}
// Terms of sums over a row are at most 9 times 6 1/8, those of sums over rows 3 times.
constexpr double largest_of_row = 882, largest_of_column = 294;

Gradients expected(const Rows& in, const Setting& setting) {
  Gradients want;
  want.dx =
      expect_dx(in, positions_of(in.rows, setting.units), sum_is_exact(setting, in.cols, largest_of_row));
  expect_sums_over_rows(in, positions_of(in.cols, setting.units, in.rows),
                        sum_is_exact(setting, in.rows, largest_of_column), want);
  return want;
}

/// The elements of these channels.
Positions elements_of_channels(const batch_norm::Extents& p, const Positions& channels) {
  Positions planes{.count = p.n * p.c, .all = channels.all, .where = {}};
  for (Index n = 0; n < p.n && !channels.all; ++n) {
    for (const Index c : channels.where) planes.where.push_back(n * p.c + c);
  }
  return elements_of(planes, p.plane());
}

void naive_batch_norm(const BatchNorm::Problem& p, const BatchNorm::Input& in, BatchNorm::Output& out) {
  const auto count = static_cast<float>(p.count());
  for (Index c = 0; c < p.c; ++c) {
    float sum = 0, squares = 0;
    each_in_channel(p, c, [&](Index at) { sum += in.x[at]; });
    const float mean = out.mean[c] = sum / count;
    each_in_channel(p, c, [&](Index at) { squares += (in.x[at] - mean) * (in.x[at] - mean); });
    const float rstd = out.rstd[c] = reciprocal_root(squares / count);
    each_in_channel(p, c, [&](Index at) { out.y[at] = (in.x[at] - mean) * rstd * in.gamma[c] + in.beta[c]; });
  }
}

template <class Real>
struct ChannelSums {
  Real dy = 0, dy_xhat = 0;
};
/// dbeta and dgamma of a channel, the specification; sums of the absolute values of their terms if
/// `magnitudes`.
template <class Real>
ChannelSums<Real> channel_sums(const batch_norm::Extents& p, const BatchNormBackward::Input& in, Index c,
                               bool magnitudes = false) {
  const auto mean = static_cast<Real>(in.mean[c]), rstd = static_cast<Real>(in.rstd[c]);
  ChannelSums<Real> sums;
  each_in_channel(p, c, [&](Index at) {
    const auto dy = static_cast<Real>(in.dy[at]);
    const Real term = dy * ((static_cast<Real>(in.x[at]) - mean) * rstd);
    sums.dy += magnitudes ? std::abs(dy) : dy;
    sums.dy_xhat += magnitudes ? std::abs(term) : term;
  });
  return sums;
}

void naive_batch_norm_backward(const batch_norm::Extents& p, const BatchNormBackward::Input& in,
                               BatchNormBackward::Output& out) {
  const auto count = static_cast<float>(p.count());
  for (Index c = 0; c < p.c; ++c) {
    const ChannelSums<float> sums = channel_sums<float>(p, in, c);
    out.dbeta[c] = sums.dy;
    out.dgamma[c] = sums.dy_xhat;
    each_in_channel(p, c, [&](Index at) {
      const float xhat = (in.x[at] - in.mean[c]) * in.rstd[c];
      out.dx[at] = in.rstd[c] * in.gamma[c] * (in.dy[at] - sums.dy / count - xhat * (sums.dy_xhat / count));
    });
  }
}

const Register registered{[](Registry& r) {
  constexpr auto moments = "mean, variance and result in one loop each per row";
  constexpr auto scaled = "mean square and result in one loop each per row";
  r.add<LayerNorm>({.name = "naive", .summary = moments, .run = naive<LayerNorm>});
  r.add<RmsNorm>({.name = "naive", .summary = scaled, .run = naive<RmsNorm>});
  r.add<LayerNormResidual>({.name = "naive", .summary = moments, .run = naive<LayerNormResidual>});
  r.add<RmsNormResidual>({.name = "naive", .summary = scaled, .run = naive<RmsNormResidual>});
  constexpr auto gradients = "one loop per row for its sums, one for its gradients";
  r.add<LayerNormBackward>({.name = "naive", .summary = gradients, .run = naive_backward<LayerNormBackward>});
  r.add<RmsNormBackward>({.name = "naive", .summary = gradients, .run = naive_backward<RmsNormBackward>});
  r.add<BatchNorm>({.name = "naive", .summary = moments, .run = naive_batch_norm});
  r.add<BatchNormBackward>({.name = "naive", .summary = gradients, .run = naive_batch_norm_backward});
}};

}  // namespace

const Corners layernorm::corners = {
    // Around the lane counts 4, 8, 16, unrolled blocks of four vectors, and groups of four rows.
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
    "rows=97,cols=1025,values=equal|large|huge|tiny|special"};

template <class Op>
template <class O>
typename O::Input layernorm::Rows<Op>::make_input(const Problem& p, Setting& setting) {
  typename O::Input in;
  in.x = rows_drawn(p, setting);
  if constexpr (centred<O>) {
    // The residual that a block adds is around zero.
    if constexpr (adds<O>)
      in.r = p.values == 0 ? parameters(p.rows * p.cols, setting) : rows_drawn(p, setting);
    in.gamma = parameters(p.cols, setting);
    in.beta = parameters(p.cols, setting);
    // At one column y is beta, and must be larger than what the rounded mean of the fill `offset` allows.
    for (float& beta : in.beta) beta = adds<O> ? std::copysign(0.5F + std::abs(beta) / 2, beta) : beta;
  } else {
    in.gamma = drawn(p.cols, setting);
    if constexpr (adds<O>) {
      in.r = rows_drawn(p, setting);
      // The sum, not x, is what rmsnorm has: a small integer other than 0.
      const bool integers = setting.fill == Fill::exact && p.values == 0;
      if (integers) std::ranges::transform(in.x, in.r, in.x.begin(), std::minus<>());
    }
  }
  return in;
}

template <class Op>
template <class O>
Expected layernorm::Rows<Op>::expect(const Problem& p, const typename O::Input& in, Setting& setting) {
  const Positions rows = positions_of(p.rows, setting.units);
  Expected want{rows, empty_statistic(rows.size()), empty_statistic(centred<O> ? rows.size() : 0)};
  std::vector<float> sums(static_cast<std::size_t>(p.cols));
  for (Index next = 0; next < rows.size(); ++next) {
    const auto at = static_cast<std::size_t>(next);
    const float* x = in.x.data() + rows[next] * p.cols;
    if constexpr (adds<O>) {
      // In single precision, where each element has one right value.
      add_row(x, in.r.data() + rows[next] * p.cols, sums.data(), p.cols);
      x = sums.data();
    }
    if constexpr (centred<O>) {
      expect_layernorm(p, x, at, want.mean, want.rstd);
    } else {
      expect_rmsnorm(p, x, at, exact_squares(p, setting.fill), want.rstd);
    }
  }
  return want;
}

/// Judges y by the statistics that were written with it, and by s.
template <class Op>
template <class O>
Agreement layernorm::Rows<Op>::judge(const Problem& p, const typename O::Input& in, const Expected& want,
                                     const typename O::Output& out) {
  Agreement found;
  const float* x = in.x.data();
  if constexpr (adds<O>) {
    found = within_rows("s", p, want, out.s, [&](Index r, Index j) {
      const float sum = in.x[r * p.cols + j] + in.r[r * p.cols + j];
      return std::pair{static_cast<double>(sum), 0.0};
    });
    x = out.s.data();
  }
  if constexpr (centred<O>) found = found & within_sides("mean", out.mean, want, want.mean);
  found = found & within_sides("rstd", out.rstd, want, want.rstd);
  return found & within_rows("y", p, want, out.y, [&](Index r, Index j) {
           const double rstd = out.rstd[r], gamma = in.gamma[j], at = x[r * p.cols + j];
           if constexpr (centred<O>) {
             return scaled_and_shifted(at, out.mean[r], rstd, gamma, in.beta[j], 5, 1);
           } else {
             const double value = at * rstd * gamma, bound = g(3) * std::abs(value) + underflow(rstd, gamma);
             return std::pair{value, std::isfinite(value) ? bound : 0};
           }
         });
}

void layernorm::RowsAndColumns::draw(const Problem&, std::string_view part, float& element,
                                     Setting& setting) {
  Rng& rng = setting.rng;
  const bool exact = setting.fill == Fill::exact;
  if (part == "rstd") {
    element = exact ? (rng.integer(0, 1) == 0 ? 0.5F : 1.0F) : static_cast<float>(rng.uniform(0.5, 2));
  } else if (part == "mean") {
    // An eighth off the integers in the exact fill: else dx would now and then be 0, and the rounding of its
    // three terms would be judged.
    element = setting.draw() + (exact ? 0.125F : 0.0F);
  } else if (part == "x" || exact) {
    element = setting.draw();
  } else {
    // Gradients and parameters do not follow the data: they are around zero.
    element = static_cast<float>(rng.uniform(-1, 1));
  }
}

auto LayerNormBackward::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  return expected(rows_of(p, in), setting);
}

auto RmsNormBackward::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  Gradients want = expected(rows_of(p, in), setting);
  return {std::move(want.dx), std::move(want.dgamma)};
}

auto layernorm::RowsAndColumns::corner_cases() -> std::vector<Problem> {
  std::vector<Problem> out;
  for (const layernorm::Problem& p : LayerNorm::corner_cases()) {
    if (p.values == 0) out.push_back({.rows = p.rows, .cols = p.cols});
  }
  return out;
}

auto BatchNorm::make_input(const Problem& p, Setting& setting) -> Input {
  return {rows_drawn({.rows = p.c, .cols = p.count(), .values = p.values}, setting), parameters(p.c, setting),
          parameters(p.c, setting)};
}

auto BatchNorm::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Positions channels = positions_of(p.c, setting.units);
  Expected want{channels, empty_statistic(channels.size()), empty_statistic(channels.size())};
  for (Index next = 0; next < channels.size(); ++next) {
    std::vector<float> x;
    each_in_channel(p, channels[next], [&](Index at) { x.push_back(in.x[at]); });
    expect_layernorm({.rows = p.c, .cols = p.count()}, x.data(), static_cast<std::size_t>(next), want.mean,
                     want.rstd);
  }
  return want;
}

auto BatchNorm::judge(const Problem& p, const Input& in, const Expected& want, const Output& out)
    -> Agreement {
  const Expectation y = expect_at(elements_of_channels(p, want), [&](Index at) {
    const Index c = at / p.plane() % p.c;
    return scaled_and_shifted(in.x[at], out.mean[c], out.rstd[c], in.gamma[c], in.beta[c], 6, 4);
  });
  return within_sides("mean", out.mean, want, want.mean) & within_sides("rstd", out.rstd, want, want.rstd) &
         within({"y", {p.n, p.c, p.h, p.w}}, out.y, y);
}

auto BatchNormBackward::expect(const Problem& p, const Input& in, Setting& setting) -> Expected {
  const Positions channels = positions_of(p.c, setting.units);
  const bool exact = sum_is_exact(setting, p.count(), largest_of_column);
  const double count = static_cast<double>(p.count()), n = exact ? 0 : count;
  Expected want{elements_of_channels(p, channels), channels, channels};
  want.dx.value.resize(static_cast<std::size_t>(want.dx.size()));
  want.dx.bound = want.dx.value;
  for (Index next = 0; next < channels.size(); ++next) {
    const Index c = channels[next];
    const auto sum = channel_sums<double>(p, in, c), of = channel_sums<double>(p, in, c, !exact);
    want.dgamma.value.push_back(sum.dy_xhat);
    want.dgamma.bound.push_back(exact ? 0 : g(n + 2) * of.dy_xhat);
    want.dbeta.value.push_back(sum.dy);
    want.dbeta.bound.push_back(exact ? 0 : g(n - 1) * of.dy);
    const double mean = in.mean[c], rstd = in.rstd[c], gain = rstd * static_cast<double>(in.gamma[c]);
    each_in_channel(p, c, [&](Index at) {
      const double dy = in.dy[at], xhat = (static_cast<double>(in.x[at]) - mean) * rstd;
      const Index plane = at / (p.c * p.plane()) * channels.size() + next;
      const auto i = static_cast<std::size_t>(plane * p.plane() + at % p.plane());
      want.dx.value[i] = gain * (dy - sum.dy / count - xhat * sum.dy_xhat / count);
      want.dx.bound[i] = std::abs(gain) * (g(4) * std::abs(dy) + g(n + 5) * std::abs(of.dy) / count +
                                           g(n + 11) * std::abs(xhat * of.dy_xhat) / count);
    });
  }
  return want;
}

const Corners BatchNorm::corners = {
    // Around the lane counts and four vectors to a turn, whole planes and what they leave over.
    "n=2,c=3,h=1,w=1|5|7|16|17|33|63", "n=3,c=1|2|7,h=1,w=5", "n=1,c=1,h=1,w=1", "n=2,c=5,h=8,w=9",
    "n=9,c=3,h=7,w=7", "n=2,c=3,h=5,w=13,values=equal|large|huge|tiny|special",
    // Beyond the size below which a threaded variant stays on one thread.
    "n=2,c=130,h=16,w=16"};

const Corners BatchNormBackward::corners = {"n=1|3,c=2|7,h=1,w=1|5|7|16|17|33|65", "n=3,c=1,h=1,w=1|5|17",
                                            "n=2,c=5,h=8,w=9", "n=9,c=3,h=7,w=7", "n=3,c=19,h=35,w=35"};

template class detail::TypedOperation<BatchNorm>;
template class detail::TypedOperation<BatchNormBackward>;
template class detail::TypedOperation<LayerNorm>;
template class detail::TypedOperation<RmsNorm>;
template class detail::TypedOperation<LayerNormResidual>;
template class detail::TypedOperation<RmsNormResidual>;
template class detail::TypedOperation<LayerNormBackward>;
template class detail::TypedOperation<RmsNormBackward>;

}  // namespace assay
