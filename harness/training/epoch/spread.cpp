#include "training/epoch/spread.hpp"

#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace assay {
namespace {

constexpr std::size_t fewest_groups = 20;
/// A move is told if its chance is below 10 %, so that an interval of 90 % is doubted as often as it is wrong
/// anyway, and if it is at least 1 %: less keeps a prediction within the 1.5 % that it aims at.
constexpr double change_chance = 0.1, change_share = 0.01, untested_share = 0.015;

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

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<bool> holds(const Interval& interval, double value) {
  if (!(interval.low < interval.high)) return std::nullopt;
  return interval.low <= value && value <= interval.high;
}

Interval shifted(Interval interval, double by) {
  for (double* end : {&interval.low, &interval.middle, &interval.high}) *end += by;
  return interval;
}

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

std::vector<Group> grouped(std::span<const double> seconds) {
  std::vector<Group> out;
  const std::size_t size = std::max<std::size_t>(1, seconds.size() / fewest_groups);
  const std::size_t groups = seconds.size() / size;
  for (std::size_t i = 0; i < groups; ++i) {
    const std::size_t last = i + 1 == groups ? seconds.size() : (i + 1) * size;
    const auto part = seconds.subspan(i * size, last - i * size);
    out.push_back({static_cast<Index>(part.size()), mean_of(part)});
  }
  return out;
}

std::vector<Group> groups_of(const std::vector<TimedWindow>& windows) {
  std::vector<Group> out;
  for (const TimedWindow& window : windows) {
    if (window.step_seconds.empty()) {
      out.push_back({window.steps, window.mean()});
      continue;
    }
    const std::vector<Group> more = grouped(window.step_seconds);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

bool are_runs(const std::vector<TimedWindow>& windows) {
  std::set<int> runs;
  for (const TimedWindow& window : windows) {
    if (window.first_step != 0 || window.step_seconds.empty() || !runs.insert(window.run).second)
      return false;
  }
  return runs.size() >= enough_runs;
}

Spread spread_of(std::span<const Group> groups) {
  Spread out;
  if (groups.empty()) return out;
  double sum = 0;
  for (const Group& group : groups) {
    out.steps += group.steps;
    sum += static_cast<double>(group.steps) * group.mean;
  }
  out.mean = sum / static_cast<double>(out.steps);
  out.freedom = static_cast<int>(groups.size()) - 1;
  if (out.freedom == 0) return out;
  double squares = 0;
  for (const Group& group : groups) {
    squares += static_cast<double>(group.steps) * (group.mean - out.mean) * (group.mean - out.mean);
  }
  out.variance = squares / out.freedom;
  return out;
}

double persistence_of(std::span<const Group> groups) {
  constexpr double most = 0.9;  // 20 groups do not resolve more
  if (groups.size() < enough_runs) return 0;
  const auto count = static_cast<double>(groups.size());
  double sum = 0;
  for (const Group& group : groups) sum += group.mean;
  const double mean = sum / count;
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double here = groups[i].mean - mean;
    squares += here * here;
    if (i > 0) products += here * (groups[i - 1].mean - mean);
  }
  const double rounding = 1e-24 * mean * mean * count;
  return squares > rounding ? std::clamp(products / squares, 0.0, most) : 0;
}

Interval sum_of_steps(const Spread& spread, double steps) {
  const double middle = steps * spread.mean;
  if (spread.freedom == 0) return {middle, middle, middle, 0};
  const double t = student_quantile((1 - predicted_coverage) / 2, spread.freedom);
  const double half =
      t * std::sqrt(spread.variance * (steps * steps / static_cast<double>(spread.steps) + steps));
  const double factor = middle > 0 ? 1 + half / middle : 1;
  return {middle / factor, middle, middle * factor, predicted_coverage};
}

std::optional<Change> change_in(std::span<const Group> groups) {
  if (groups.size() < 4) return std::nullopt;
  std::optional<Change> best;
  for (std::size_t at = 1; at < groups.size(); ++at) {
    const auto change = change_between(groups.first(at), groups.subspan(at), groups.size() - 1);
    if (change && (!best || change->chance < best->chance)) best = change;
  }
  return best;
}

std::optional<Change> change_between(std::span<const Group> before, std::span<const Group> after,
                                     std::size_t tests) {
  if (before.empty() || after.empty()) return std::nullopt;
  const Spread a = spread_of(before), b = spread_of(after);
  const auto a_steps = static_cast<double>(a.steps), b_steps = static_cast<double>(b.steps);
  const int freedom = a.freedom + b.freedom;  // as many as there are groups, less two
  const double difference = std::abs(b.mean - a.mean);
  const double least = freedom > 0 ? change_share : untested_share;
  if (difference < least * std::min(std::abs(a.mean), std::abs(b.mean))) return std::nullopt;
  // The variance of a step around the two means.
  const double variance = freedom > 0 ? (a.variance * a.freedom + b.variance * b.freedom) / freedom : 0;
  double chance = 0;
  if (freedom > 0) {
    const double error = std::sqrt(variance * (1 / a_steps + 1 / b_steps));
    // Equal times on each side differ by rounding only; student_tail() knows no infinite argument.
    const double t = std::min(difference / std::max(error, 1e-300), 1e6);
    chance = static_cast<double>(tests) * 2 * student_tail(t, freedom);
  }
  if (chance >= change_chance) return std::nullopt;
  return Change{.group = before.size(), .step = a.steps, .before = a.mean, .after = b.mean, .chance = chance};
}

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
