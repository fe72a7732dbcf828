#include "training/epoch/start_up.hpp"

#include "core/statistics/statistics.hpp"
#include "training/epoch/spread.hpp"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

/// A symmetric positive definite matrix by rows, factored in place into its lower Cholesky factor.
class Cholesky {
 public:
  explicit Cholesky(std::size_t size, std::vector<double> values) : size_(size), l_(std::move(values)) {
    for (std::size_t j = 0; j < size_; ++j) {
      for (std::size_t k = 0; k < j; ++k) at(j, j) -= at(j, k) * at(j, k);
      sound_ = sound_ && at(j, j) > 0;
      at(j, j) = std::sqrt(std::max(at(j, j), 1e-300));
      for (std::size_t i = j + 1; i < size_; ++i) {
        for (std::size_t k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
        at(i, j) /= at(j, j);
      }
    }
  }
  bool is_sound() const { return sound_; }
  /// L^-1 v, which makes variables of this covariance independent with variance 1.
  std::vector<double> whitened(std::vector<double> v) {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) v[i] -= at(i, k) * v[k];
      v[i] /= at(i, i);
    }
    return v;
  }

 private:
  double& at(std::size_t row, std::size_t column) { return l_[row * size_ + column]; }
  std::size_t size_;
  std::vector<double> l_;
  bool sound_ = true;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<double> covariance_of(const std::vector<Stretch>& stretches) {
  std::vector<double> out;
  for (const Stretch& a : stretches) {
    for (const Stretch& b : stretches) {
      const bool same = &a == &b;
      const bool nested = a.run == b.run && a.from_start && b.from_start;
      out.push_back(same || nested ? std::min(a.steps, b.steps) : 0);
    }
  }
  return out;
}

std::string why_impossible(const std::vector<Stretch>& stretches) {
  if (stretches.empty()) return "no window was timed";
  if (std::ranges::none_of(stretches, &Stretch::from_start)) {
    return "no window begins with step 0, so that start-up is in none";
  }
  const bool one_length = std::ranges::all_of(
      stretches, [&](const Stretch& one) { return one.from_start && one.steps == stretches.front().steps; });
  return one_length ? "all windows begin with step 0 and are equally long" : "";
}

}  // namespace

LineFit fit_line(const std::vector<Stretch>& stretches) {
  LineFit out{.impossible = why_impossible(stretches)};
  if (!out.impossible.empty()) return out;
  Cholesky factor(stretches.size(), covariance_of(stretches));
  if (!factor.is_sound()) {
    out.impossible = "two windows of one run are equally long";
    return out;
  }
  std::vector<double> ones, steps, seconds;
  for (const Stretch& one : stretches) {
    ones.push_back(one.from_start ? 1 : 0);
    steps.push_back(one.steps);
    seconds.push_back(one.seconds);
  }
  ones = factor.whitened(std::move(ones));
  steps = factor.whitened(std::move(steps));
  seconds = factor.whitened(std::move(seconds));
  const double aa = dot(ones, ones), ab = dot(ones, steps), bb = dot(steps, steps);
  const double determinant = aa * bb - ab * ab;
  out.one_off = (bb * dot(ones, seconds) - ab * dot(steps, seconds)) / determinant;
  out.period = (aa * dot(steps, seconds) - ab * dot(ones, seconds)) / determinant;
  out.freedom = static_cast<int>(stretches.size()) - 2;
  if (out.freedom == 0) return out;
  double squares = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const double rest = seconds[i] - out.one_off * ones[i] - out.period * steps[i];
    squares += rest * rest;
  }
  out.step_variance = squares / out.freedom;
  out.one_off_variance = out.step_variance * bb / determinant;
  out.period_variance = out.step_variance * aa / determinant;
  out.covariance = -out.step_variance * ab / determinant;
  return out;
}

Interval LineFit::at(double steps) const {
  const double middle = one_off + period * steps;
  if (freedom == 0) return {middle, middle, middle, 0};
  const double variance =
      one_off_variance + steps * (2 * covariance + steps * period_variance) + step_variance * steps;
  const double half =
      student_quantile((1 - predicted_coverage) / 2, freedom) * std::sqrt(std::max(0.0, variance));
  return {middle - half, middle, middle + half, predicted_coverage};
}

std::vector<Stretch> stretches_of(const std::vector<TimedWindow>& windows) {
  constexpr std::size_t cuts = 8;
  const bool whole = are_runs(windows);
  std::vector<Stretch> out;
  for (const TimedWindow& window : windows) {
    const std::size_t steps = window.step_seconds.size();
    if (whole || window.first_step != 0 || steps < 2 * cuts) {
      out.push_back(
          {static_cast<double>(window.steps), window.wall_seconds, window.first_step == 0, window.run});
      continue;
    }
    double sum = 0;
    std::size_t done = 0;
    for (std::size_t cut = 1; cut <= cuts; ++cut) {
      for (; done < cut * steps / cuts; ++done) sum += window.step_seconds[done];
      out.push_back({static_cast<double>(done), sum, true, window.run});
    }
  }
  return out;
}

}  // namespace assay
