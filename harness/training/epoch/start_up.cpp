#include "training/epoch/start_up.hpp"

#include "core/statistics/statistics.hpp"
#include "training/epoch/spread.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay {
namespace {

/// Steps of one run that no other piece shares.
struct Piece {
  double starts = 0;  ///< 1 where start-up is in it
  double steps = 0, seconds = 0;
};

/// Cuts nested stretches of a run where the shorter ones end: their pieces are independent, and the variance
/// of each is that of its number of steps.
std::vector<Piece> pieces_of(std::vector<Stretch> stretches) {
  std::ranges::stable_sort(stretches, {}, &Stretch::steps);
  std::vector<Piece> out;
  std::map<int, Stretch> shorter;  // the last one from the start of each run
  for (const Stretch& one : stretches) {
    if (!one.from_start) {
      out.push_back({.steps = one.steps, .seconds = one.seconds});
      continue;
    }
    const auto before = shorter.find(one.run);
    out.push_back(before == shorter.end()
                      ? Piece{1, one.steps, one.seconds}
                      : Piece{0, one.steps - before->second.steps, one.seconds - before->second.seconds});
    shorter.insert_or_assign(one.run, one);
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
  const std::vector<Piece> pieces = pieces_of(stretches);
  // Weighted sums of products of starts (a), steps (b) and seconds (y).
  double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
  for (const Piece& one : pieces) {
    if (one.steps <= 0) {
      out.impossible = "two windows of one run are equally long";
      return out;
    }
    const double weight = 1 / one.steps;
    aa += weight * one.starts;
    ab += one.starts;
    bb += one.steps;
    ay += weight * one.starts * one.seconds;
    by += one.seconds;
  }
  const double determinant = aa * bb - ab * ab;
  out.one_off = (bb * ay - ab * by) / determinant;
  out.period = (aa * by - ab * ay) / determinant;
  out.freedom = static_cast<int>(pieces.size()) - 2;
  if (out.freedom == 0) return out;
  double squares = 0;
  for (const Piece& one : pieces) {
    const double rest = one.seconds - out.one_off * one.starts - out.period * one.steps;
    squares += rest * rest / one.steps;
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
