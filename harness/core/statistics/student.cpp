// Student's distribution for whole degrees of freedom, by its finite series.
#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace assay {
namespace {

/// The most degrees of freedom that are told apart: with more, the distribution is wider than it should be by
/// less than 3 % in any quantile used here, and the series stays short.
constexpr int most_freedom = 200;

/// P(-t < T < t) for t >= 0: Abramowitz and Stegun (1964), 26.7.3 and 26.7.4.
double within(double t, int freedom) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(freedom)));
  const double sine = std::sin(theta), cosine = std::cos(theta), square = cosine * cosine;
  double sum = 0;
  if (freedom % 2 == 0) {
    double term = 1;
    for (int k = 2; k <= freedom; k += 2) {
      sum += term;
      term *= square * (k - 1) / k;
    }
    return sine * sum;
  }
  double term = cosine;
  for (int k = 3; k <= freedom; k += 2) {
    sum += term;
    term *= square * (k - 1) / k;
  }
  return 2 / std::numbers::pi * (theta + sine * sum);
}

}  // namespace

double student_tail(double t, int freedom) {
  assert(freedom >= 1);
  const double outside = (1 - within(std::abs(t), std::min(freedom, most_freedom))) / 2;
  return t >= 0 ? outside : 1 - outside;
}

double student_quantile(double tail, int freedom) {
  assert(tail > 0 && tail <= 0.5);
  double low = 0, high = 1;
  for (; student_tail(high, freedom) > tail; high *= 2) low = high;
  while (high - low > 1e-9 * high) {
    const double middle = (low + high) / 2;
    (student_tail(middle, freedom) > tail ? low : high) = middle;
  }
  return high;
}

}  // namespace assay
