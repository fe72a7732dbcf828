// The idea: mean and variance in one walk, by Welford's updates (Technometrics 4(3), 1962) in eight
// independent columns, which are merged by the formula of Chan, Golub and LeVeque, The American Statistician
// 37(3), 1983, equation 2.1. In double precision, so vectors hold half as many numbers: every update rounds
// the mean, and in single precision the error exceeds the contract's bound if the mean is large beside the
// spread (known_bad/formulas.cpp).

#include "layernorm/rows.hpp"

#include <cmath>

namespace assay::layernorm {
namespace {

/// Four vectors of two doubles for the means and as many for the squares: the registers of the plain ABI.
constexpr Index columns = 8;

/// The mean of `count` numbers, and the sum of squares around it.
struct Moments {
  double count = 0, mean = 0, squares = 0;
};

Moments merged(const Moments& a, const Moments& b) {
  const double count = a.count + b.count, apart = b.mean - a.mean;
  return {count, a.mean + apart * b.count / count,
          a.squares + b.squares + apart * apart * a.count * b.count / count};
}

Moments moments(const float* x, Index cols) {
  double mean[columns] = {}, squares[columns] = {};
  Index j = 0;
  double count = 0;
  for (; j + columns <= cols; j += columns) {
    // One division for all columns, which have equal counts.
    const double share = 1 / ++count;
    double before[columns], after[columns];
    for (Index l = 0; l < columns; ++l) before[l] = static_cast<double>(x[j + l]) - mean[l];
    for (Index l = 0; l < columns; ++l) mean[l] += before[l] * share;
    for (Index l = 0; l < columns; ++l) after[l] = static_cast<double>(x[j + l]) - mean[l];
    for (Index l = 0; l < columns; ++l) squares[l] += before[l] * after[l];
  }
  const Index longer = cols - j;
  for (Index l = 0; l < longer; ++l) {
    const double value = static_cast<double>(x[j + l]), before = value - mean[l];
    mean[l] += before / (count + 1);
    squares[l] += before * (value - mean[l]);
  }
  Moments all;
  for (Index l = 0; l < columns && l < cols; ++l) {
    all = merged(all, {count + (l < longer ? 1 : 0), mean[l], squares[l]});
  }
  return all;
}

void run(const Problem& p, const LayerNorm::Input& in, LayerNorm::Output& out) {
  const Operands on = operands(p, in, out);
  for (Index r = 0; r < p.rows; ++r) {
    const float* x = on.x + r * p.cols;
    float* y = on.y + r * p.cols;
    const Moments of = moments(x, p.cols);
    const auto mean = on.mean[r] = static_cast<float>(of.mean);
    const auto rstd = on.rstd[r] = static_cast<float>(1 / std::sqrt(of.squares / of.count + epsilon));
    for (Index j = 0; j < p.cols; ++j) y[j] = (x[j] - mean) * rstd * on.gamma[j] + on.beta[j];
  }
}

const Register registered{[](Registry& r) {
  r.add<LayerNorm>({.name = "welford",
                    .summary = "mean and variance in one walk, in eight columns of doubles",
                    .run = run});
}};

}  // namespace
}  // namespace assay::layernorm
