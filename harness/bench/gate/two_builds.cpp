// Matches two builds, samples them in rounds, and decides. Times come from a function: tests need no clock.
#include "bench/gate/two_builds.hpp"

#include "bench/compare/words.hpp"
#include "core/machine/clock.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

namespace assay {
namespace {

/// After the first launch, the rest of the screen may take this share of the remaining budget where calls
/// are long. The remainder decides the trials that the screen leaves open.
constexpr double screen_share = 0.5;
/// Counts of fewer launches tell no sides apart.
constexpr std::size_t launches_to_settle = 6;

/// The reason to leave a trial out that both sides have; without one it is tested.
Finding why_left_out(const DescribedTrial& base, const DescribedTrial& head, bool skip_identical) {
  if (!head.skipped.empty() && !base.skipped.empty()) {
    return {Standing::skipped, "did not run here: " + head.skipped};
  }
  if (!head.skipped.empty()) {
    return {Standing::not_comparable, "the base runs it, the head skips it: " + head.skipped};
  }
  if (!base.skipped.empty()) return {Standing::not_comparable, "the base skips it: " + base.skipped};
  if (base.workload != head.workload) {
    return {Standing::not_comparable, "is another workload in the base: inputs, seed or contract changed"};
  }
  if (skip_identical && !base.code.empty() && base.code == head.code) {
    return {Standing::same, "the machine code is identical"};
  }
  return {};
}

std::vector<std::size_t> tested(const TwoBuilds& run) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    if (run.trials[i].tested()) out.push_back(i);
  }
  return out;
}

/// The mean of the middle half. Programs of others take no turns, so that their slices make no pairs; and
/// what is slower in some iterations alone is lost to a quantile of few repetitions.
double mean_of_middle(std::vector<double> slices) {
  sort_ascending(slices);
  const std::size_t quarter = slices.size() / 4, count = slices.size() - 2 * quarter;
  double sum = 0;
  for (const double one : std::span(slices).subspan(quarter, count)) sum += one;
  return sum / static_cast<double>(count);
}

/// More than a side ever has.
constexpr std::size_t most_links = 1 << 16;

bool several_layouts(const PairedTrial& trial) {
  return std::ranges::any_of(trial.launches,
                             [](const PairedLaunch& l) { return l.base_link != 0 || l.head_link != 0; });
}

std::vector<TrialLogs> logs_of(const TwoBuilds& run, const std::vector<std::size_t>& trials) {
  std::vector<TrialLogs> out;
  for (const std::size_t i : trials) out.push_back(logs_of(run.trials[i]));
  return out;
}

/// The trials that are still open after the screen. Dropped trials count, as they do for the final
/// decisions: both must agree.
std::vector<std::size_t> open_trials(const TwoBuilds& run, const std::vector<std::size_t>& trials) {
  SequentialPolicy policy = run.policy;
  policy.family = std::max(policy.family, tested(run).size());
  const SequentialDecisions decisions = rule(logs_of(run, trials), policy);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (decisions.trials[i].goes_on) out.push_back(trials[i]);
  }
  return out;
}

/// The cost of a launch per second that is sampled: starting, filling inputs, calibrating.
constexpr double launch_overhead = 2;

/// Trials whose calls are so long that the screen would not end within its share, longest first, are left
/// alone after the first launch. That launch is no measure of builds, whose variants it checked as well. Of
/// other programs it is, and nothing is shorter than it: there the fewest launches that may decide count.
void drop_the_longest(const TwoBuilds& run, double seconds_left, double took,
                      std::vector<std::size_t>& trials) {
  constexpr double fewest_launches = 5;
  const bool foreign = !run.timing.empty();
  const auto slices = [&](std::size_t i) {
    const PairedTrial& trial = run.trials[i];
    if (trial.launches.empty()) return 0.0;
    return foreign ? slice_seconds(trial.launches.front(), repetition_seconds) : usual_slice_seconds(trial);
  };
  double expected = 0;
  for (const std::size_t i : trials) expected += slices(i);
  if (expected <= 0) return;
  const double launches = foreign ? fewest_launches - 1 : static_cast<double>(run.policy.screen - 1);
  const double affordable =
      (foreign ? 1 : screen_share) * seconds_left / launches / (foreign ? took / expected : launch_overhead);
  std::ranges::stable_sort(trials, std::less{}, slices);
  for (; expected > affordable && trials.size() > 1; trials.pop_back()) expected -= slices(trials.back());
  std::ranges::sort(trials);
}

std::string sentence(const PairedTrial& trial, const SequentialDecision& decision, const TrialLogs& logs,
                     const TwoBuilds& run) {
  std::string out = decision.screened
                        ? fmt::format("decided by the screen of {} process starts", decision.launches)
                        : fmt::format("decided by {} process starts", decision.launches);
  if (is_open(decision.standing)) {
    const bool few = logs.head.size() < run.policy.screen;
    out = few ? fmt::format("{} process starts {}", logs.head.size(),
                            run.partial ? "were over when it was interrupted" : "fitted the budget")
              : fmt::format("{} process starts do not decide it", decision.launches);
  }
  if (is_open(decision.standing) && 2 * logs.resolution > std::log(run.policy.margin)) {
    out += fmt::format("; the numbers are printed to within {}", percent_text(std::expm1(logs.resolution)));
  }
  if (decision.standing == Standing::undecided && !decision.by_layout && decision.launches > 1 &&
      deciding_interval(logs, decision.launches, run.policy).low > std::log(run.policy.margin))
    out += "; against the copy of the base it may be no slower";
  if (decision.by_layout) out += "; it moved in some layouts of the code and not in others";
  if (decision.control_moved) out += "; a copy of the base moved against the base in the same process starts";
  if (const auto& base = trial.base_allocations, &head = trial.head_allocations; base != head) {
    out += fmt::format("; allocations per call: {:g} of {:g} bytes -> {:g} of {:g} bytes", base.count,
                       base.bytes, head.count, head.bytes);
  }
  return out;
}

ComparedRow row_of(const PairedTrial& trial, const SequentialDecision& decision, const TrialLogs& logs,
                   const TwoBuilds& run) {
  const SequentialPolicy& policy = run.policy;
  ComparedRow out{.key = trial.trial.key,
                  .standing = decision.standing,
                  .limit = policy.margin,
                  .why = sentence(trial, decision, logs, run),
                  .launches = decision.launches,
                  .chance = decision.chance};
  if (decision.launches < 2) return out;
  out.ratio = out.time_ratio = exponential(deciding_interval(logs, decision.launches, policy));
  if (logs.head.size() < policy.screen) return out;
  out.unselected = exponential(centre(std::span(logs.head).first(policy.screen)));
  out.unselected_launches = policy.screen;
  return out;
}

/// Returns how many launches a trial that stayed open could have had: where time ran out for one, or all was
/// interrupted, as many as the most patient of them had. A trial that was left alone after the first launch
/// tells nothing of time.
std::size_t affordable_launches(const SequentialDecisions& decisions, const std::vector<TrialLogs>& logs,
                                const TwoBuilds& run) {
  const std::size_t most = run.policy.looks.back();
  std::size_t out = 0;
  bool ran_out = run.partial;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const std::size_t launches = logs[i].head.size();
    out = std::max(out, launches);
    ran_out = ran_out || (decisions.trials[i].goes_on && launches < most && launches >= run.policy.screen);
  }
  return ran_out || out < run.policy.screen ? std::min(out, most) : most;
}

/// Leaves every row undecided, for a reason of the whole run, for readers of single rows.
void take_back(Comparison& comparison, const std::string& reason) {
  for (ComparedRow& row : comparison.rows) {
    if (row.launches == 0 || row.standing == Standing::undecided) continue;
    row.why = fmt::format("{}; otherwise {}: {}", reason, to_string(row.standing), row.why);
    row.standing = Standing::undecided;
  }
}

Results side_of(const TwoBuilds& run, std::vector<double> PairedLaunch::*side) {
  Results out{.suite = run.suite, .machine = run.machine, .date = run.date, .seed = run.seed};
  out.mixed_machines = run.mixed_machines;
  for (const PairedTrial& trial : run.trials) {
    TrialResult result{.key = trial.trial.key,
                       .operation = trial.trial.operation,
                       .variant = trial.trial.variant,
                       .problem = trial.trial.problem,
                       .threads = trial.trial.threads};
    for (const PairedLaunch& launch : trial.launches) {
      Launch& slices = result.launches.emplace_back();
      for (const double seconds : launch.*side)
        slices.push_back({.seconds = seconds, .cpu_seconds = seconds});
    }
    out.trials.push_back(std::move(result));
  }
  return out;
}

/// Says why the reports of a name make no launch. At least one side has no times.
Finding why_unusable(const std::array<Reported, launch_sides>& sides) {
  const Reported &base = sides[base_side], &head = sides[head_side], &control = sides[control_side];
  const auto timed = [](const Reported& one) { return !one.seconds.empty(); };
  const Reported& either_base = base.error.empty() ? control : base;
  if (!head.error.empty() && !either_base.error.empty()) {
    return {Standing::skipped, "did not run here, in either program: " + head.error};
  }
  if (!either_base.error.empty()) return {Standing::not_comparable, "the base " + either_base.error};
  if (head.failed && timed(base) && timed(control)) return {Standing::wrong, head.error};
  if (!head.error.empty()) return {Standing::not_comparable, "the head " + head.error};
  if (!timed(head) && !timed(base)) {
    return {Standing::not_comparable, "neither program reported a time for it"};
  }
  return {Standing::not_comparable,
          fmt::format("the {} reported no time for it", timed(head) ? "base" : "head")};
}

/// Takes in what all sides of a launch counted.
void note_figures(PairedTrial& trial, const std::array<Reported, launch_sides>& sides) {
  trial.base_figures.clear();
  trial.head_figures.clear();
  for (const Figure& figure : sides[head_side].figures) {
    const auto in = [&](const Reported& one) {
      return std::ranges::find(one.figures, figure.name, &Figure::name);
    };
    if (std::ranges::any_of(sides, [&](const Reported& one) { return in(one) == one.figures.end(); }))
      continue;
    auto counted =
        std::ranges::find(trial.counted, figure.name, [](const Counted& one) { return one.figure.name; });
    if (counted == trial.counted.end()) counted = trial.counted.insert(counted, {.figure = figure});
    for (std::size_t side = 0; side < launch_sides; ++side)
      counted->values[side].push_back(in(sides[side])->value);
    if (counted->values[head_side].size() < launches_to_settle) continue;
    auto [base, head] = settled(*counted);
    trial.base_figures.push_back(std::move(base));
    trial.head_figures.push_back(std::move(head));
  }
}

/// The standard error of a median by that of a mean, for many samples of a normal distribution.
const double median_by_mean = std::sqrt(std::acos(-1.0) / 2);

/// Returns how far single pairs lie from the middle of their launch.
double pair_deviation(const PairedTrial& trial) {
  std::vector<double> deviations;
  for (const PairedLaunch& launch : trial.launches) {
    for (const auto* side : {&launch.head, &launch.control}) {
      const auto logs = log_ratios(*side, launch.base);
      if (logs.size() > 2) deviations.push_back(robust_deviation(logs));
    }
  }
  return deviations.empty() ? 0 : median(deviations);
}

std::size_t third_look_or_next(const SequentialPolicy& policy, std::size_t launches) {
  constexpr std::size_t forgiving = 2;  // of the looks, from 0: two of 28 launches may be stray
  const auto looks = std::span(policy.looks).subspan(std::min(forgiving, policy.looks.size() - 1));
  const auto next = std::ranges::upper_bound(looks, launches);
  return next == looks.end() ? launches + 1 : *next;
}

}  // namespace

std::vector<PairedTrial> matched(const Description& base, const Description& head, const Selects& selects,
                                 bool identical_too) {
  std::map<std::string, const DescribedTrial*> of_base;
  for (const DescribedTrial& trial : base.trials) of_base[trial.trial.key] = &trial;
  // Identical code may call another version of a library, or one that chose other kernels.
  const bool skip_identical = !identical_too && differences(base.facts, head.facts, true).empty();
  std::vector<PairedTrial> out;
  for (const DescribedTrial& trial : head.trials) {
    const auto found = of_base.find(trial.trial.key);
    const DescribedTrial* before = found == of_base.end() ? nullptr : found->second;
    if (before != nullptr) of_base.erase(found);
    if (!selects(trial.trial.key)) continue;
    out.push_back({.trial = trial.trial});
    if (before == nullptr) {
      out.back().left_out = {Standing::added, "the base does not have it"};
    } else {
      out.back().base_code = before->code;
      out.back().head_code = trial.code;
      out.back().left_out = why_left_out(*before, trial, skip_identical);
    }
  }
  for (const DescribedTrial& trial : base.trials) {
    if (!of_base.contains(trial.trial.key) || !selects(trial.trial.key)) continue;
    out.push_back({.trial = trial.trial});
    out.back().left_out = {Standing::gone, "the base has it, the head has not"};
  }
  return out;
}

void leave_out_wrong(std::vector<PairedTrial>& trials, const Description& base, const Description& head) {
  const auto fault_in = [](const Description& side, const std::string& key) -> const DescribedTrial* {
    const auto found =
        std::ranges::find(side.trials, key, [](const DescribedTrial& one) { return one.trial.key; });
    return found == side.trials.end() || found->wrong.empty() ? nullptr : &*found;
  };
  for (PairedTrial& trial : trials) {
    if (!trial.tested()) continue;
    if (const DescribedTrial* const fault = fault_in(head, trial.trial.key)) {
      trial.left_out = fault->failure
                           ? Finding{standing_of(*fault->failure), "the head " + fault->wrong}
                           : Finding{Standing::wrong, "disagrees with the oracle: " + fault->wrong};
    } else if (const DescribedTrial* const before = fault_in(base, trial.trial.key)) {
      trial.left_out = {
          Standing::not_comparable,
          (before->failure ? "the base " : "the base disagrees with the oracle: ") + before->wrong};
    }
  }
}

TrialLogs logs_of(const PairedTrial& trial) {
  TrialLogs out{.resolution = trial.resolution};
  const bool several = several_layouts(trial);
  const bool foreign = trial.trial.variant.empty();
  const auto moved = [&](const std::vector<double>& side, const std::vector<double>& from) {
    return foreign ? std::log(mean_of_middle(side) / mean_of_middle(from)) : median(log_ratios(side, from));
  };
  for (const PairedLaunch& launch : trial.launches) {
    out.head.push_back(moved(launch.head, launch.base));
    if (!launch.control.empty()) {
      out.control.push_back(moved(launch.control, launch.base));
      out.to_control.push_back(moved(launch.head, launch.control));
    }
    if (several) out.layouts.push_back(launch.base_link * most_links + launch.head_link);
  }
  return out;
}

void sample_two_builds(TwoBuilds& run, const PairedSample& sample, const Hooks& hooks, bool together) {
  std::vector<std::size_t> trials = tested(run);
  const WeatherStation station;
  const auto start = std::chrono::steady_clock::now();
  int launch = 0;
  PatiencePlan patience;
  double per_trial = 0;  // seconds of the last launch
  // Trials that a launch leaves out are sampled no more: the first launch checks all, and any may crash.
  const auto go_on = [&](std::vector<std::size_t>& some) {
    if (some.empty() || hooks.stopped()) return false;
    const double before = seconds_since(start);
    const double expected = per_trial * static_cast<double>(some.size());
    if (launch > 0 && (before >= run.budget_seconds || before + expected > latest_end * run.budget_seconds)) {
      return false;
    }
    // It ends with the budget, or when the most patient trial has had its last look.
    const double of_budget = run.budget_seconds > 0 ? before / run.budget_seconds : 1,
                 of_launches = static_cast<double>(launch) / static_cast<double>(run.policy.looks.back());
    hooks.say(fmt::format("launch {}: {} of {} {}", launch + 1, some.size(), run.trials.size(),
                          run.trials.size() == 1 ? "trial" : "trials"),
              std::min(1.0, std::max(of_budget, of_launches)));
    patience.plan(run, some, static_cast<std::size_t>(launch), run.budget_seconds - before);
    sample(run, some, launch++);
    patience.took(seconds_since(start) - before);
    // The first launch of builds checks them as well.
    if (launch > 1 || !run.timing.empty())
      per_trial = (seconds_since(start) - before) / static_cast<double>(some.size());
    std::erase_if(some, [&](std::size_t i) { return !run.trials[i].tested(); });
    return true;
  };
  if (go_on(trials) && !together) {
    drop_the_longest(run, run.budget_seconds - seconds_since(start), seconds_since(start), trials);
  }
  const auto counts = [](const PairedTrial& trial) { return !trial.counted.empty(); };
  const std::size_t all_go_on = std::ranges::any_of(run.trials, counts) ? launches_to_settle : 1;
  for (std::size_t i = 1; i < run.policy.screen; ++i) {
    // What is far from the limit makes room. Builds may need all launches of the screen for sums of steps.
    if (!run.timing.empty() && i >= all_go_on) trials = open_trials(run, trials);
    if (!go_on(trials)) break;
  }
  run.screen_seconds = launch > 0 ? seconds_since(start) : 0;
  auto launches = run.policy.screen;
  for (const std::size_t look : run.policy.looks) {
    std::erase_if(trials, [&](std::size_t i) { return !run.trials[i].tested(); });
    auto open = open_trials(run, trials);
    bool went_on = !open.empty();
    for (; went_on && launches < look; ++launches) went_on = go_on(open);
    if (!went_on) break;
  }
  run.seconds = seconds_since(start);
  run.weather = station.since();
  run.partial = hooks.stopped();
}

GateFindings findings_of(const TwoBuilds& run) {
  const auto trials = tested(run);
  const auto logs = logs_of(run, trials);
  GateFindings out{.decisions = rule(logs, run.policy)};
  out.comparison.differences = differences(run.base.facts, run.head.facts, false);
  std::string& unfit = out.comparison.unfit = out.decisions.unfit;
  if (unfit.empty()) unfit = run.unfit_shard;
  const std::size_t launches = affordable_launches(out.decisions, logs, run);
  std::size_t next = 0;
  for (const PairedTrial& trial : run.trials) {
    ComparedRow row{.key = trial.trial.key, .standing = trial.left_out.standing, .why = trial.left_out.why};
    if (trial.tested()) {
      const SequentialDecision& decision = out.decisions.trials[next];
      row = row_of(trial, decision, logs[next], run);
      row.visible =
          smallest_visible(logs[next], out.decisions.family, launches, run.policy, moved_by_layout(trial));
      out.visible.push_back(row.visible);
      if (decision.control_moved && unfit.empty()) {
        unfit = fmt::format("a copy of the base moved against the base itself in {}", trial.trial.key);
      }
      ++next;
    } else if (trial.left_out.standing == Standing::same) {
      row.ratio = {1, 1, 1, 1, Basis::launches};  // identical code takes as long; sums of ratios rely on it
    }
    row.figures = changes_of(trial.base_figures, trial.head_figures);  // no machine and no time changes these
    out.comparison.rows.push_back(std::move(row));
  }
  if (!unfit.empty()) take_back(out.comparison, "the machine is unfit");
  if (run.partial) take_back(out.comparison, "it was interrupted");
  return out;
}

double moved_by_layout(const PairedTrial& trial) {
  const TrialLogs logs = logs_of(trial);
  if (!several_layouts(trial) || logs.control.size() < 2 || logs.head.size() < 2) return 0;
  const double head = robust_deviation(logs.head), control = robust_deviation(logs.control);
  return std::sqrt(std::max(0.0, head * head - control * control));
}

Results base_results(const TwoBuilds& run) { return side_of(run, &PairedLaunch::base); }
Results head_results(const TwoBuilds& run) { return side_of(run, &PairedLaunch::head); }

std::array<Figure, 2> settled(const Counted& counted) {
  constexpr double share = 0.05;
  const auto& [base, head, control] = counted.values;
  std::vector<double> before = base;
  before.insert(before.end(), control.begin(), control.end());
  const auto [low, high] = std::ranges::minmax(before);
  const auto [least, most] = std::ranges::minmax(head);
  const bool steady = counted.noise == 0 && low == high && least == most;
  const auto is_beyond = [&](double more, double less) {
    return more > less + (steady ? 0 : counted.noise + share * std::abs(less));
  };
  const bool enough = counted.noise > 0 || std::min(base.size(), head.size()) >= launches_to_settle;
  const bool differ = enough && (is_beyond(least, high) || is_beyond(low, most));
  std::array<Figure, 2> out{counted.figure, counted.figure};
  out[0].value = median(std::move(before));
  out[1].value = differ ? median(head) : out[0].value;
  return out;
}

void append(ReportedTimes& all, ReportedTimes later) {
  for (auto& [name, more] : later) {
    Reported& one = all[name];
    std::ranges::move(more.seconds, std::back_inserter(one.seconds));
    one.figures = std::move(more.figures);
    one.resolution = std::max(one.resolution, more.resolution);
    one.sampled = one.sampled > 0 ? std::min(one.sampled, more.sampled) : more.sampled;
    one.failed = one.failed || more.failed;
    if (!more.error.empty()) one.error = std::move(more.error);
    if (!one.error.empty()) one.seconds.clear();
  }
}

std::vector<PairedTrial> matched(const std::vector<std::string>& base, const std::vector<std::string>& head) {
  std::vector<PairedTrial> out;
  const auto add = [&](const std::string& name, Standing left_out, const char* why) {
    if (std::ranges::find(out, name, [](const PairedTrial& one) { return one.trial.key; }) != out.end())
      return;
    PairedTrial& trial = out.emplace_back();
    trial.trial.key = trial.trial.operation = name;
    trial.left_out = {left_out, why};
  };
  for (const std::string& name : head) {
    const auto in_base = std::ranges::count(base, name), in_head = std::ranges::count(head, name);
    if (in_base == 0) {
      add(name, Standing::added, "the base does not have it");
    } else if (in_base > 1 || in_head > 1) {
      add(name, Standing::not_comparable, "several have this name, and cannot be told apart");
    } else {
      add(name, Standing::undecided, "");
    }
  }
  for (const std::string& name : base) {
    if (std::ranges::find(head, name) == head.end()) add(name, Standing::gone, "the head does not have it");
  }
  return out;
}

void add_launch(TwoBuilds& run, const std::vector<std::size_t>& trials, LaunchReports reports) {
  for (const std::size_t i : trials) {
    PairedTrial& trial = run.trials[i];
    std::array<Reported, launch_sides> sides;
    for (std::size_t side = 0; side < launch_sides; ++side) sides[side] = reports[side][trial.trial.key];
    if (std::ranges::none_of(sides, [](const Reported& one) { return one.seconds.empty(); })) {
      trial.resolution = std::max(trial.resolution, std::log1p(sides[base_side].resolution) +
                                                        std::log1p(sides[head_side].resolution));
      trial.launches.push_back({.base = std::move(sides[base_side].seconds),
                                .head = std::move(sides[head_side].seconds),
                                .control = std::move(sides[control_side].seconds)});
      note_figures(trial, sides);
      continue;
    }
    trial.left_out = why_unusable(sides);
    trial.launches.clear();
  }
}

double wanted_patience(const PairedTrial& trial, const PatiencePolicy& policy) {
  if (trial.launches.size() < policy.learning) return 1;
  const double per_luck = median_by_mean * pair_deviation(trial) / policy.luck;
  // The first launch had the usual number of pairs.
  const auto usual = static_cast<double>(std::max<std::size_t>(1, trial.launches.front().base.size()));
  return std::clamp(per_luck * per_luck / usual, 1.0, policy.most);
}

double slice_seconds(const PairedLaunch& launch, double shortest) {
  double out = 0;
  for (const auto* side : {&launch.base, &launch.head, &launch.control}) {
    for (const double call : *side) out += std::max(call, shortest);
  }
  return out;
}

double usual_slice_seconds(const PairedTrial& trial) {
  if (trial.launches.empty()) return 0;
  return slice_seconds(trial.launches.front(), for_threads(trial.trial.threads, {}).slice_seconds);
}

double grant_patience(std::vector<PairedTrial>& trials, const std::vector<std::size_t>& which, double spare,
                      const PatiencePolicy& policy) {
  double wanted = 0;
  for (const std::size_t i : which) {
    trials[i].patience = wanted_patience(trials[i], policy);
    wanted += (trials[i].patience - 1) * usual_slice_seconds(trials[i]);
  }
  if (wanted <= 0) return 0;
  const double share = std::clamp(spare / wanted, 0.0, 1.0);
  for (const std::size_t i : which) trials[i].patience = 1 + share * (trials[i].patience - 1);
  return share * wanted;
}

void PatiencePlan::plan(TwoBuilds& run, const std::vector<std::size_t>& which, std::size_t launches,
                        double seconds_left) {
  slice_seconds_ = 0;
  for (const std::size_t i : which) slice_seconds_ += usual_slice_seconds(run.trials[i]);
  if (launches == 0) return;
  const auto ahead = static_cast<double>(third_look_or_next(run.policy, launches) - launches);
  double per_launch = seconds_left / ahead;
  if (launches < run.policy.screen) {
    const double share = run.timing.empty() ? policy_.screen : policy_.screen_of_others;
    const double of_screen =
        (seconds_left - (1 - share) * run.budget_seconds) / static_cast<double>(run.policy.screen - launches);
    per_launch = run.timing.empty() ? std::min(per_launch, of_screen) : of_screen;
  }
  run.launch_seconds = per_launch;
  if (launches < policy_.learning) return;
  const double spare = per_launch / per_slice_second_ - slice_seconds_;
  slice_seconds_ += grant_patience(run.trials, which, spare, policy_);
}

void PatiencePlan::took(double seconds) {
  if (slice_seconds_ > 0) per_slice_second_ = seconds / slice_seconds_;
}

}  // namespace assay
