#include "bench/gate/sequential.hpp"

#include "core/statistics/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace assay {
namespace {

using Logs = std::span<const double>;

/// The degrees of freedom from which on Student's distribution is taken for the normal one.
constexpr int many_launches = 200;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// How a trial moved in one direction until a look.
struct Moved {
  double p;              ///< p-value of "it did not move beyond the margin"
  bool against_control;  ///< against the copy of the base as well
  bool in_all_layouts;
  double p_if_certain() const { return against_control && in_all_layouts ? p : 1; }
};

/// A trial that is still open at a look.
struct Open {
  std::size_t trial;
  Moved slower, faster;
};

/// The interval, if it ends within the limit and its median within the margin, against the copy of the base
/// as well; else nothing. That of less than five launches is too wide for what is asked, whatever they are.
std::optional<Interval> without_slow_down(const TrialLogs& trial, std::size_t launches,
                                          const SequentialPolicy& policy) {
  if (p_above(Logs(trial.head).first(launches), -infinity) > policy.same_level) return std::nullopt;
  const Interval all = deciding_interval(trial, launches, policy);
  const Logs others = Logs(trial.to_control).first(std::min(launches, trial.to_control.size()));
  const double middle = std::max(all.middle, others.empty() ? all.middle : median(others));
  if (middle > std::log(policy.margin) || all.high > std::log(policy.same_limit)) return std::nullopt;
  return all;
}

bool is_same(const TrialLogs& trial, std::size_t launches, const SequentialPolicy& policy) {
  const auto all = without_slow_down(trial, launches, policy);
  return all && all->middle >= -std::log(policy.margin) && all->low >= -std::log(policy.same_limit);
}

/// The chance of being slower than the margin, by the head against the base, if all of the interval lies
/// above it, and against the copy of the base as well; else 0.
double chance_of_slower(const TrialLogs& trial, std::size_t launches, const SequentialPolicy& policy) {
  const double margin = std::log(policy.margin) + trial.resolution;
  double p = p_above(Logs(trial.head).first(launches), margin);
  if (const Logs others = Logs(trial.to_control).first(std::min(launches, trial.to_control.size()));
      !others.empty()) {
    p = std::max(p, p_above(others, margin));
  }
  return p <= policy.same_level ? 1 - p : 0;
}

/// Divides the level among the looks, and one more when time runs out.
double look_level(const SequentialPolicy& policy) {
  return policy.level / static_cast<double>(policy.looks.size() + 1);
}

/// Holm: the smallest p-value against level / m, the next against level / (m - 1), until one fails.
void step_down(std::vector<Open>& open, std::size_t& left, double level, Moved Open::*direction,
               Standing standing, std::size_t launches, SequentialDecisions& out) {
  const auto p = [&](const Open& one) { return (one.*direction).p_if_certain(); };
  std::ranges::sort(open, {}, p);
  auto first = open.begin();
  for (; first != open.end() && left > 0 && p(*first) <= level / static_cast<double>(left); ++first, --left) {
    out.trials[first->trial].standing = standing;
    out.trials[first->trial].launches = launches;
  }
  open.erase(open.begin(), first);
}

/// Whether each layout moved beyond the limit, a logarithm: above a positive, below a negative one.
/// The farther of two launches in the middle counts: two of a layout are few, and luck within a
/// layout is what the sign test is for.
bool moved_in_all_layouts(const TrialLogs& trial, std::size_t launches, double limit) {
  std::map<std::size_t, std::vector<double>> by_layout;
  for (std::size_t i = 0; i < std::min(launches, trial.layouts.size()); ++i) {
    by_layout[trial.layouts[i]].push_back(limit > 0 ? trial.head[i] : -trial.head[i]);
  }
  return std::ranges::all_of(by_layout, [limit](auto& layout) {
    auto& logs = layout.second;
    const auto middle = logs.begin() + static_cast<std::ptrdiff_t>(logs.size() / 2);
    std::ranges::nth_element(logs, middle);
    return *middle > std::abs(limit);
  });
}

/// The limit is a logarithm: slower than a positive, faster than a negative one.
Moved moved_beyond(const TrialLogs& trial, std::size_t launches, double limit,
                   const SequentialPolicy& policy) {
  const auto p = [limit](Logs logs) { return limit > 0 ? p_above(logs, limit) : p_below(logs, limit); };
  const Logs to_control = Logs(trial.to_control).first(std::min(launches, trial.to_control.size()));
  return {.p = p(Logs(trial.head).first(launches)),
          .against_control = to_control.empty() || p(to_control) <= policy.level,
          .in_all_layouts = moved_in_all_layouts(trial, launches, limit)};
}

/// Looks at the trials that have as many launches; where it is their last look, at those that have no more.
void look(std::span<const TrialLogs> trials, std::size_t launches, bool last, std::size_t& left,
          std::size_t& left_faster, const SequentialPolicy& policy, SequentialDecisions& out) {
  std::vector<Open> open;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (out.trials[i].standing != Standing::undecided || trials[i].head.size() < launches) continue;
    if (last && trials[i].head.size() > launches) continue;
    const double margin = std::log(policy.margin) + trials[i].resolution;
    open.push_back({i, moved_beyond(trials[i], launches, margin, policy),
                    moved_beyond(trials[i], launches, -margin, policy)});
  }
  step_down(open, left, look_level(policy), &Open::slower, Standing::slower, launches, out);
  step_down(open, left_faster, look_level(policy), &Open::faster, Standing::faster, launches, out);
  for (const Open& o : open) {
    SequentialDecision& decision = out.trials[o.trial];
    decision.launches = launches;
    const double level = look_level(policy) / static_cast<double>(std::max<std::size_t>(1, left));
    decision.by_layout = (!o.slower.in_all_layouts && o.slower.p <= level) ||
                         (!o.faster.in_all_layouts && o.faster.p <= level);
    if (is_same(trials[o.trial], launches, policy)) {
      decision.standing = Standing::same;
      decision.by_layout = false;
    }
  }
}

/// Launches after which time ran out: one number, or one for each shard.
std::set<std::size_t> last_looks(std::span<const TrialLogs> trials, const SequentialPolicy& policy,
                                 const SequentialDecisions& decisions) {
  std::set<std::size_t> out;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::size_t launches = trials[i].head.size();
    const bool looked = std::ranges::find(policy.looks, launches) != policy.looks.end();
    if (decisions.trials[i].standing == Standing::undecided && launches > policy.screen && !looked) {
      out.insert(launches);
    }
  }
  return out;
}

/// Whether the control of a trial moved, in either direction, in the launches that its decision rests on.
/// `left`: Holm's divisor of the last rejected trial, so that a control that moved as that trial did is seen.
bool control_moved(const TrialLogs& trial, const SequentialDecision& decision, std::size_t left,
                   const SequentialPolicy& policy) {
  const Logs seen = Logs(trial.control).first(std::min(trial.control.size(), decision.launches));
  if (seen.empty()) return false;
  const double margin = std::log(policy.margin);
  const double level = look_level(policy) / static_cast<double>(left);
  return std::min(p_above(seen, margin), p_below(seen, -margin)) <= level;
}

/// All trials of the control together: the median over the trials, launch by launch of the screen. A shard
/// gets the whole level, since eight launches have no p-value small enough for a part of it: four shards are
/// wrongly unfit four times as often, which is no false alarm.
std::string control_moved_as_a_whole(std::span<const TrialLogs> trials, const SequentialPolicy& policy) {
  constexpr std::size_t fewest_trials = 5;  // below that one trial's luck is the median
  std::vector<double> medians;
  for (std::size_t launch = 0; launch < policy.screen; ++launch) {
    std::vector<double> moved;
    for (const TrialLogs& trial : trials) {
      if (launch < trial.control.size()) moved.push_back(trial.control[launch]);
    }
    if (moved.size() >= fewest_trials) medians.push_back(median(moved));
  }
  if (medians.size() < policy.screen) return "";
  const double margin = std::log(policy.control_margin);
  if (std::min(p_above(medians, margin), p_below(medians, -margin)) > policy.level / 2) return "";
  return fmt::format(
      "a copy of the base took {:.3f} times as long as the base itself over all trials, in {} process starts "
      "of {}",
      std::exp(median(medians)), medians.size(), medians.size());
}

}  // namespace

SequentialPolicy policy_with(double margin) {
  SequentialPolicy out;
  out.same_limit = out.margin = margin;
  return out;
}

Interval deciding_interval(const TrialLogs& trial, std::size_t launches, const SequentialPolicy& policy) {
  Interval out = median_interval(Logs(trial.head).first(launches), 1 - 2 * policy.same_level);
  out.low -= trial.resolution;
  out.high += trial.resolution;
  return out;
}

SequentialDecisions rule(std::span<const TrialLogs> trials, const SequentialPolicy& policy) {
  SequentialDecisions out{.trials = std::vector<SequentialDecision>(trials.size()),
                          .family = std::max(trials.size(), policy.family)};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    SequentialDecision& decision = out.trials[i];
    decision.launches = std::min(policy.screen, trials[i].head.size());
    if (is_same(trials[i], decision.launches, policy)) {
      decision.standing = Standing::same;
      decision.screened = true;
    }
  }
  std::size_t left = out.family, left_faster = out.family;
  for (const std::size_t launches : policy.looks)
    look(trials, launches, false, left, left_faster, policy, out);
  for (const std::size_t launches : last_looks(trials, policy, out)) {
    look(trials, launches, true, left, left_faster, policy, out);
  }

  out.unfit = control_moved_as_a_whole(trials, policy);
  const std::size_t at_last = std::min(out.family, std::min(left, left_faster) + 1);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    SequentialDecision& decision = out.trials[i];
    decision.control_moved = control_moved(trials[i], decision, at_last, policy);
    if (decision.standing != Standing::undecided) continue;
    const auto excluded = without_slow_down(trials[i], decision.launches, policy);
    decision.goes_on =
        !excluded || decision.launches < policy.screen || excluded->high < -std::log(policy.margin);
    if (excluded) decision.standing = Standing::not_slower;
    if (excluded || decision.by_layout) continue;
    decision.chance = chance_of_slower(trials[i], decision.launches, policy);
    if (decision.chance > 0) decision.standing = Standing::probably_slower;
  }
  return out;
}

double smallest_visible(const TrialLogs& trial, std::size_t family, std::size_t launches,
                        const SequentialPolicy& policy, double by_layout) {
  constexpr std::size_t fewest = 5;  // that tell how far launches differ
  if (trial.control.size() < fewest) return 0;
  const double level = look_level(policy) / static_cast<double>(std::max<std::size_t>(family, 1));
  const auto count = static_cast<int>(std::min(launches, policy.looks.back()));
  const double chance = needed_chance(needed_count(count, level), count, 0.95);
  if (chance >= 1) return 0;
  // A slow-down moves every launch by as much: it must lift the quantile of 1 - chance above the margin. A
  // few launches have no such quantile beyond their smallest, so that it is at least that of a normal
  // distribution.
  const double deviation = robust_deviation(trial.control);
  const double below = std::max(median(trial.control) - quantile(trial.control, 1 - chance),
                                chance > 0.5 ? deviation * student_quantile(1 - chance, many_launches) : 0);
  const double wider = deviation > 0 ? std::hypot(deviation, by_layout) / deviation : 1;
  return std::max(std::exp(std::log(policy.margin) + wider * below), policy.same_limit);
}

}  // namespace assay
