#include "training/epoch/spread.hpp"

#include "core/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace assay {
namespace {

constexpr std::size_t fewest_groups = 20;
constexpr double untested_share = 0.015;

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

}  // namespace assay
