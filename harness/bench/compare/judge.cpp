// Which rows of two sets of results are compared, beside which witnesses, and with what evidence.
#include "bench/compare/judge.hpp"

#include "assay/random.hpp"
#include "bench/compare/words.hpp"
#include "core/machine/roofline.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace assay {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// The time around which a row moves. The sides count alike, however many launches each has.
double usual_time(const LoggedTrial& before, const LoggedTrial& after) {
  return (before.usual + after.usual) / 2;
}

/// Returns how far witnesses moved in a launch, without the one that deviated by `own`; missing if no other
/// was measured.
double movement(const std::vector<double>& deviations, std::optional<double> own) {
  const std::size_t others = deviations.size() - (own ? 1 : 0);
  if (others == 0) return missing;
  const auto left_out = own ? std::ranges::lower_bound(deviations, *own) : deviations.end();
  const auto at = [&](std::size_t i) {
    return deviations[i + (deviations.begin() + static_cast<std::ptrdiff_t>(i) >= left_out ? 1 : 0)];
  };
  return median(std::array{at((others - 1) / 2), at(others / 2)});
}

std::vector<double> medians(const TrialResult& trial) {
  std::vector<double> out;
  for (const Launch& launch : trial.launches) {
    if (!launch.empty()) out.push_back(median(seconds_of(launch)));
  }
  return out;
}

/// Naive variants that must have moved together before they speak for the machine as a whole.
constexpr std::size_t fewest_for_machine = 3;

bool is_naive(const TrialResult& trial) { return trial.variant == "naive"; }

/// Whether so many rows stood still that the machine did: else all of them changed by just what it moved.
bool are_enough(std::size_t still, std::size_t all) {
  return still >= (all > fewest_for_machine ? 2U : 1U) && 4 * still >= all;
}

/// The witnesses of all rows. A naive variant is judged beside the other variants of its case.
/// Results of foreign programs have no naive variants at all; there the rows that stood still speak for the
/// machine if they are enough, else all rows.
class AllWitnesses {
 public:
  /// `times`: the ratio of each row.
  AllWitnesses(const std::vector<const TrialResult*>& rows, const std::vector<Interval>& times,
               const GatePolicy& policy, const Side& before, const Side& after)
      : any_naive_(std::ranges::any_of(rows, [](const TrialResult* row) { return is_naive(*row); })) {
    std::set<std::string> machine, still;
    std::map<std::pair<std::string, bool>, std::set<std::string>> cases;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const TrialResult& row = *rows[i];
      if (is_naive(row) || !any_naive_) machine.insert(row.key);
      if (!any_naive_ && is_within(times[i].middle, policy.limit_of(row.key))) still.insert(row.key);
      if (any_naive_) cases[{case_of(row), is_naive(row)}].insert(row.key);
    }
    if (are_enough(still.size(), rows.size())) machine = std::move(still);
    machine_ = witnesses_of(before, after, std::move(machine));
    for (auto& [which, keys] : cases) cases_[which] = witnesses_of(before, after, std::move(keys));
  }

  bool any_naive() const { return any_naive_; }
  bool of_machine(const std::string& key) const { return machine_.keys.contains(key); }

  const Witnesses& of_case(const TrialResult& row) const {
    const auto found = cases_.find({case_of(row), !is_naive(row)});
    return found == cases_.end() ? none_ : found->second;
  }

  const Witnesses& of_suite(const TrialResult& row) const {
    return machine_.beside(row.key) > 0 ? machine_ : none_;
  }

 private:
  bool any_naive_;
  Witnesses machine_, none_;
  std::map<std::pair<std::string, bool>, Witnesses> cases_;  ///< by case and whether they are naive
};

/// exp() of the shift between the sides.
Interval ratio_of(const Paired& paired, double coverage = standing_coverage) {
  if (paired.before.empty() || paired.after.empty()) return {};
  return exponential(shift(paired.before, paired.after, coverage));
}

std::size_t launches_in(const Logs& logs) {
  return static_cast<std::size_t>(std::ranges::count_if(logs, [](double x) { return !std::isnan(x); }));
}

/// Says how much more or less other work used the machine than in all recordings, if the difference is above
/// a quarter of the machine.
std::string change_of_weather(const std::vector<const Results*>& recordings, const Weather& now) {
  constexpr double much = 0.25;
  double low = 1, high = 0;
  for (const Results* recording : recordings) {
    if (recording->weather.seconds <= 0) return "";
    low = std::min(low, recording->weather.other_busy_share);
    high = std::max(high, recording->weather.other_busy_share);
  }
  const double share = now.other_busy_share;
  if (recordings.empty() || now.seconds <= 0 || (share < high + much && share > low - much)) return "";
  return fmt::format("others used {} of the processors, {} before", percent_text(share),
                     percent_text(share > high ? high : low));
}

/// Whether no cache of the machine holds what a call reads and writes, each byte once, as far as is known.
bool lives_in_memory(const TrialResult& trial, const Results& results) {
  const auto roof = std::ranges::find(results.roofs, trial.threads, &Roof::threads);
  if (roof == results.roofs.end()) return false;
  const Bandwidth* const level = level_that_holds(*roof, trial.cost.bytes_read + trial.cost.bytes_written);
  return level != nullptr && level->level == "memory";
}

/// The ratio within which nine of ten trials with several threads moved beside the machine, where there are
/// enough of them: code that has one thread does not see what happens to the other processors.
double drift_of_threads(const std::vector<const TrialResult*>& rows, const std::vector<Interval>& times,
                        double machine_moved) {
  constexpr std::size_t fewest = 10;
  std::vector<double> moves;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i]->threads > 1) moves.push_back(std::abs(std::log(times[i].middle / machine_moved)));
  return moves.size() < fewest ? 1 : std::exp(quantile(moves, 0.9));
}

/// How far kernels may have drifted apart between the sides. `weather`: see change_of_weather();
/// `of_threads`: drift_of_threads().
Drift drift_of(const TrialResult& trial, const Results& current, std::size_t recordings,
               const std::string& weather, double of_threads) {
  if (!weather.empty()) return {farthest_drift, weather};
  Drift out;
  if (recordings == 1 && lives_in_memory(trial, current))
    out = {drift_of_memory, "its data lie in memory, of whose drift one recording shows nothing"};
  if (trial.threads == 1) return out;
  const double waking = 1 + drift_of_waking / std::max(time_of(trial).middle, drift_of_waking);
  if (const double ratio = std::max(waking, of_threads); ratio > out.times)
    out = {ratio, "it has other threads, which the machine wakes and runs at another pace from run to run"};
  return out;
}

double limit_of(double spread, double plain_limit) {
  return std::max(plain_limit, std::exp(deviations_allowed * spread));
}

/// How the witnesses of a row moved, in logarithms of ratios.
struct Movement {
  double middle = 0, uncertainty = 0;
  double apart = 0;  ///< how far a row may lie from them for no reason that its own samples show
};

/// Repetitions of foreign programs share no moment with those of other rows, so that these tell how far the
/// machine moved as a whole alone. `speaks`: whether a row is a witness; `without`: the row that is judged,
/// where they are few.
Movement movement_of(const std::vector<Interval>& times, const std::vector<bool>& speaks,
                     std::size_t without) {
  constexpr double of_median = 1.25;      // deviations of a median of normal numbers to those of their mean
  constexpr double of_absolute = 1.4826;  // deviations to the median of absolute ones
  constexpr double narrowest = 1e-9;
  std::vector<double> middles, halves, apart, of_witnesses;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i == without) continue;
    middles.push_back(std::log(times[i].middle));
    halves.push_back(std::max(std::log(times[i].high / times[i].low) / 2, narrowest));
    if (speaks[i]) of_witnesses.push_back(middles.back());
  }
  Movement out{.middle = median(of_witnesses)};
  for (std::size_t i = 0; i < middles.size(); ++i)
    apart.push_back(of_absolute * deviations_of_end * std::abs(middles[i] - out.middle) / halves[i]);
  const double half = median(halves), times_explained = median(apart);
  out.uncertainty = of_median * half / std::sqrt(static_cast<double>(of_witnesses.size()));
  const double beyond = times_explained * times_explained - explained_deviations * explained_deviations;
  out.apart = deviations_of_rows * half / deviations_of_end * std::sqrt(std::max(0.0, beyond));
  return out;
}

Interval beside(const Interval& time, const Movement& others) {
  return {time.low / std::exp(others.middle + others.uncertainty), time.middle / std::exp(others.middle),
          time.high / std::exp(others.middle - others.uncertainty), time.coverage, time.basis};
}

/// Completes the evidence of a row of a foreign program. `times`: the ratios of all rows.
void add_foreign(Evidence& out, const Paired& own, const std::vector<Interval>& times,
                 const std::vector<bool>& speaks, std::size_t row) {
  constexpr std::size_t few = 64;  // of more, one says nothing about their median
  // Either side may look steady by chance. A regression that is noisy as well has to be sure.
  out.of_spread = std::max(std::exchange(out.limit, out.plain_limit),
                           limit_of(robust_deviation(own.after), out.plain_limit));
  if (!out.beside_suite) return;
  Movement others = movement_of(times, speaks, times.size() > few ? times.size() : row);
  // Whether the machine moved, or its witnesses changed, nobody knows: the row did by the least of both.
  const double time = std::log(out.time.middle);
  const bool least = time * (time - others.middle) > 0 && std::abs(time) < std::abs(time - others.middle);
  if (least) others.middle = 0;
  const Interval apart = beside(out.time, others);
  if (least || apart.high / apart.low < out.beside_suite->high / out.beside_suite->low)
    out.beside_suite = apart;
  const double coverage = 1 - chance_of_false_alarm / static_cast<double>(times.size());
  if (const Interval sure = ratio_of(own, coverage); sure.coverage >= coverage)
    out.sure = beside(sure, others);
  if (times.size() <= fewest_for_machine && out.drift.times < drift_of_few)
    out.drift = {drift_of_few, "few others tell what the machine did"};
  if (const double ratio = std::exp(others.apart); ratio > std::max(out.drift.times, out.plain_limit))
    out.drift = {ratio, "the other trials moved apart by more than their own samples do"};
}

Evidence evidence_for(const TrialResult& row, const Interval& time, const Side& before, const Side& after,
                      const AllWitnesses& witnesses, double limit, const GatePolicy& policy, Drift drift) {
  const std::string& key = row.key;
  Evidence out{
      .launches_before = launches_in(before.rows.at(key).logs),
      .launches_after = launches_in(after.rows.at(key).logs),
      .time = time,
      .case_witness = is_naive(row) ? "the other variants of its case" : "the naive variant of its case",
      .suite_is_naive = witnesses.any_naive(),
      .limit = limit,
      .plain_limit = policy.limit_of(key),
      .drift = std::move(drift)};
  const Witnesses &of_case = witnesses.of_case(row), &of_suite = witnesses.of_suite(row);
  if (of_case.beside(key) > 0) out.beside_case = ratio_of(relative(before, after, key, of_case));
  if (of_suite.beside(key) > 0) out.beside_suite = ratio_of(relative(before, after, key, of_suite));
  return out;
}

/// Measures how far the rows that speak for the machine moved together: the naive variants, or all rows where
/// none is. Says in `unfit` when that is no drift.
void judge_machine(Comparison& out, const std::vector<double>& ratios) {
  if (ratios.empty()) return;
  out.machine_moved = median(ratios);
  const std::size_t fewest = fewest_for_machine + (out.no_naive ? 1 : 0);
  if (ratios.size() < fewest || std::max(out.machine_moved, 1 / out.machine_moved) <= farthest_drift) return;
  out.unfit = fmt::format(
      "the {} {} took {:.2f} times as long as before (median), which is no drift: another "
      "state of the machine, or another build; nothing can be judged",
      ratios.size(), out.no_naive ? "trials" : "naive variants", out.machine_moved);
}

void judge_rows(Comparison& out, const std::vector<const TrialResult*>& measured, const Side& before,
                const Side& after, const GatePolicy& policy, const Results& current,
                const std::vector<const Results*>& recordings) {
  std::vector<Interval> times;
  for (const TrialResult* row : measured) times.push_back(ratio_of(relative(before, after, row->key, {})));
  const AllWitnesses witnesses(measured, times, policy, before, after);
  const std::string weather = change_of_weather(recordings, current.weather);
  std::vector<double> spreads, machine_ratios;
  std::vector<bool> speaks;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const std::string& key = measured[i]->key;
    const Witnesses& of_suite = witnesses.of_suite(*measured[i]);
    const bool beside_suite = of_suite.beside(key) > 0;
    spreads.push_back(
        spread_of(relative(before, after, key, beside_suite ? of_suite : witnesses.of_case(*measured[i]))));
    speaks.push_back(witnesses.of_machine(key));
    if (speaks.back()) machine_ratios.push_back(times[i].middle);
  }
  out.no_naive = !witnesses.any_naive();
  judge_machine(out, machine_ratios);
  const double typical = median(spreads), of_threads = drift_of_threads(measured, times, out.machine_moved);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const TrialResult& row = *measured[i];
    // Few recordings can lie close together by chance, so no case counts as steadier than the typical one of
    // this comparison.
    const double spread = std::max(spreads[i], typical);
    auto evidence =
        evidence_for(row, times[i], before, after, witnesses, limit_of(spread, policy.limit_of(row.key)),
                     policy, drift_of(row, current, recordings.size(), weather, of_threads));
    if (out.no_naive) add_foreign(evidence, relative(before, after, row.key, {}), times, speaks, i);
    auto finding = judge(evidence);
    if (!out.unfit.empty()) finding = {Standing::undecided, out.unfit};
    out.rows.push_back(
        {.key = row.key,
         .standing = finding.standing,
         .ratio = shown_ratio(evidence),
         .limit = evidence.limit,
         .why = std::move(finding.why),
         .time_ratio = evidence.time,
         .to_naive = evidence.beside_case.value_or(Interval{}),
         .launches = std::min(evidence.launches_before, evidence.launches_after),
         .chance = finding.standing == Standing::probably_slower ? chance_of_slower(evidence) : 0,
         .spread = spread});
  }
}

/// Why a row cannot be judged by its times; nothing when it can.
std::optional<Finding> without_times(const TrialResult& now, const TrialResult* then, bool has_samples) {
  if (auto finding = found_alone(now)) return finding;
  if (then == nullptr && !has_samples) {
    return Finding{Standing::added, "is not in the results it is compared with"};
  }
  if (!is_measured(now)) {
    return Finding{Standing::not_comparable,
                   "was not measured" + (now.remark.empty() ? "" : ": " + now.remark)};
  }
  if (has_samples) return std::nullopt;
  if (!is_measured(*then)) {
    const std::string why = then->failure               ? "before, it " + then->failure->reason
                            : !then->impossible.empty() ? "before, it " + then->impossible
                            : then->skipped.empty()     ? "was not measured before"
                                                        : "was skipped before: " + then->skipped;
    return Finding{Standing::not_comparable, why};
  }
  return Finding{Standing::not_comparable,
                 fmt::format("is another workload than before ({} -> {}): inputs, seed or contract changed",
                             then->workload, now.workload)};
}

/// Compares the figures of trials with the same workload, on whatever machines. Those of a file that was
/// written before there were any are compared with nothing.
void compare_figures(Comparison& out, const TrialsByKey& before, const TrialsByKey& after) {
  for (ComparedRow& row : out.rows) {
    const auto then = before.find(row.key), now = after.find(row.key);
    if (then == before.end() || now == after.end()) continue;
    const TrialResult &was = *then->second, &is = *now->second;
    if (was.workload != is.workload || !was.agreement.agrees || !is.agreement.agrees) continue;
    row.figures = changes_of(was.agreement.figures, is.agreement.figures);
  }
}

/// `recordings`: those of the same machine. `newest` says which rows there should be.
Comparison compare_sides(const Results& current, const Results& newest,
                         const std::vector<const Results*>& recordings, const GatePolicy& policy) {
  Comparison out{.differences = differences(newest.machine.facts, current.machine.facts, false),
                 .comparable = !recordings.empty()};
  if (newest.suite != current.suite) {
    out.differences.push_back(fmt::format("suite: {} -> {}", newest.suite, current.suite));
  }
  if (!newest.mixed_machines.empty()) out.differences.push_back("machines before: " + newest.mixed_machines);
  if (!current.mixed_machines.empty()) out.differences.push_back("machines after: " + current.mixed_machines);
  const Results* const now[] = {&current};
  const Side before = side_of(recordings, current), after = side_of(now, current);
  const TrialsByKey earlier = by_key(newest.trials), present = by_key(current.trials);

  std::vector<const TrialResult*> judged;
  std::map<std::string, ComparedRow> rows;
  for (const TrialResult& trial : current.trials) {
    const auto then = earlier.find(trial.key);
    if (trial.failed && then != earlier.end() && is_measured(*then->second)) {
      out.failures.push_back(fmt::format("{} had a time before, and now {}", trial.key, trial.skipped));
    }
    auto finding =
        without_times(trial, then == earlier.end() ? nullptr : then->second, before.rows.contains(trial.key));
    if (!out.comparable && (!finding || !is_fault(finding->standing))) {
      finding = {Standing::not_comparable, "the machines or builds differ: see the list of differences"};
    }
    if (finding) {
      rows[trial.key] = {.key = trial.key, .standing = finding->standing, .why = finding->why};
    } else {
      judged.push_back(&trial);
    }
  }
  if (!judged.empty()) judge_rows(out, judged, before, after, policy, current, recordings);
  for (ComparedRow& row : out.rows) rows[row.key] = std::move(row);
  out.rows.clear();
  for (const TrialResult& trial : current.trials) out.rows.push_back(std::move(rows.at(trial.key)));
  for (const TrialResult& trial : newest.trials) {
    if (present.contains(trial.key)) continue;
    const bool elsewhere = current.shard && !contains(current.shard->shard, trial.operation, trial.problem);
    out.rows.push_back({.key = trial.key,
                        .standing = Standing::gone,
                        .why = elsewhere         ? "belongs to another shard than these results"
                               : current.partial ? "is missing: the run was interrupted"
                                                 : "was there before and is not any more"});
  }
  compare_figures(out, earlier, present);
  return out;
}

bool same_machine(const Results& before, const Results& after) {
  // Nobody knows which shard of a merge will run where the next time, and witnesses of another machine say
  // nothing.
  if (!before.mixed_machines.empty() || !after.mixed_machines.empty()) return false;
  return differences(before.machine.facts, after.machine.facts, true).empty();
}

}  // namespace

std::optional<Finding> found_alone(const TrialResult& trial) {
  if (trial.failed) return Finding{Standing::skipped, trial.skipped};
  if (!trial.skipped.empty()) return Finding{Standing::skipped, "did not run here: " + trial.skipped};
  if (trial.failure) return Finding{standing_of(*trial.failure), trial.failure->reason};
  if (!trial.agreement.agrees) {
    return Finding{Standing::wrong, "disagrees with the oracle: " + trial.agreement.detail};
  }
  if (!trial.impossible.empty()) return Finding{Standing::impossible, trial.impossible};
  return std::nullopt;
}

TrialsByKey by_key(const std::vector<TrialResult>& trials) {
  TrialsByKey out;
  for (const TrialResult& trial : trials) out[trial.key] = &trial;
  return out;
}

Side side_of(std::span<const Results* const> recordings, const Results& current) {
  std::map<std::string, const std::string*> workloads;
  for (const TrialResult& trial : current.trials) workloads[trial.key] = &trial.workload;
  Side side;
  for (std::size_t r = 0; r < recordings.size(); ++r) {
    const std::size_t first = side.recording.size();
    std::size_t launches = 0;
    for (const TrialResult& trial : recordings[r]->trials)
      launches = std::max(launches, trial.launches.size());
    side.recording.resize(first + launches, r);
    for (const TrialResult& trial : recordings[r]->trials) {
      const auto known = workloads.find(trial.key);
      if (!is_measured(trial) || known == workloads.end() || *known->second != trial.workload) continue;
      Logs& logs = side.rows[trial.key].logs;
      logs.resize(first + launches, missing);
      for (std::size_t i = 0; i < trial.launches.size(); ++i) {
        if (!trial.launches[i].empty())
          logs[first + i] = std::log(quantile(seconds_of(trial.launches[i]), 0.25));
      }
    }
  }
  for (auto& [key, row] : side.rows) {
    row.logs.resize(side.recording.size(), missing);
    std::vector<double> present = row.logs;
    std::erase_if(present, [](double x) { return std::isnan(x); });
    row.usual = median(present);
  }
  return side;
}

// Sorted once: a median for each row, of all others, would take time that grows with the square of the rows.
Witnesses witnesses_of(const Side& before, const Side& after, std::set<std::string> keys) {
  Witnesses out{std::move(keys), std::vector<std::vector<double>>(before.recording.size()),
                std::vector<std::vector<double>>(after.recording.size())};
  for (const std::string& key : out.keys) {
    const LoggedTrial &was = before.rows.at(key), &is = after.rows.at(key);
    const double usual = usual_time(was, is);
    const auto add = [&](std::vector<std::vector<double>>& launches, const Logs& logs) {
      for (std::size_t i = 0; i < logs.size(); ++i) {
        if (!std::isnan(logs[i])) launches[i].push_back(logs[i] - usual);
      }
    };
    add(out.before, was.logs);
    add(out.after, is.logs);
  }
  for (auto* side : {&out.before, &out.after}) std::ranges::for_each(*side, sort_ascending);
  return out;
}

Paired relative(const Side& before, const Side& after, const std::string& key, const Witnesses& witnesses) {
  const LoggedTrial &was = before.rows.at(key), &is = after.rows.at(key);
  const bool none = witnesses.beside(key) == 0, is_one = witnesses.keys.contains(key);
  const double usual = usual_time(was, is);
  const auto without = [&](double log, const std::vector<std::vector<double>>& launches, std::size_t i) {
    if (none || std::isnan(log)) return log;
    return log - movement(launches[i], is_one ? std::optional(log - usual) : std::nullopt);
  };
  Paired out;
  for (std::size_t i = 0; i < was.logs.size(); ++i) {
    const double log = without(was.logs[i], witnesses.before, i);
    if (std::isnan(log)) continue;
    out.before.push_back(log);
    out.recording.push_back(before.recording[i]);
  }
  for (std::size_t i = 0; i < is.logs.size(); ++i) {
    const double log = without(is.logs[i], witnesses.after, i);
    if (!std::isnan(log)) out.after.push_back(log);
  }
  return out;
}

double spread_of(const Paired& paired) {
  std::map<std::size_t, std::vector<double>> recordings;
  for (std::size_t i = 0; i < paired.before.size(); ++i) {
    recordings[paired.recording[i]].push_back(paired.before[i]);
  }
  if (recordings.size() < 2) {
    const std::vector<double>& own = paired.before.size() > 1 ? paired.before : paired.after;
    return own.empty() ? 0 : robust_deviation(own);
  }
  std::vector<double> centres;
  for (const auto& [recording, logs] : recordings) centres.push_back(median(logs));
  return robust_deviation(centres);
}

Interval time_of(const TrialResult& trial) {
  const auto launches = medians(trial);
  if (launches.empty()) return {};
  if (launches.size() > 1) return median_interval(launches);
  const auto only = std::ranges::find_if(trial.launches, [](const Launch& l) { return !l.empty(); });
  Interval out = median_interval(seconds_of(*only));
  out.basis = Basis::slices;
  return out;
}

Interval speedup(const TrialResult& reference, const TrialResult& trial) {
  std::vector<double> logs;
  const std::size_t pairs = std::min(reference.launches.size(), trial.launches.size());
  const Launch *slow = nullptr, *fast = nullptr;
  for (std::size_t i = 0; i < pairs; ++i) {
    if (reference.launches[i].empty() || trial.launches[i].empty()) continue;
    slow = &reference.launches[i];
    fast = &trial.launches[i];
    logs.push_back(std::log(median(seconds_of(*slow)) / median(seconds_of(*fast))));
  }
  if (logs.empty()) return {};
  if (logs.size() == 1) return ratio_of_medians(seconds_of(*slow), seconds_of(*fast), fnv1a(trial.key));
  return exponential(centre(logs));
}

// All recordings of this machine are pooled. The nearest one would be a choice in the code's favour, and
// would let slow-downs creep in below the limit, one recording at a time.
Comparison compare(const Results& current, const Baseline& baseline, const GatePolicy& policy) {
  assert(!baseline.recordings.empty());
  std::vector<const Results*> recordings;
  for (const Recording& recording : baseline.recordings) {
    if (same_machine(recording.results, current)) recordings.push_back(&recording.results);
  }
  const Results& newest = recordings.empty() ? baseline.recordings.back().results : *recordings.back();
  return compare_sides(current, newest, recordings, policy);
}

Comparison compare(const Results& before, const Results& after, const GatePolicy& policy) {
  std::vector<const Results*> recordings;
  if (same_machine(before, after)) recordings.push_back(&before);
  return compare_sides(after, before, recordings, policy);
}

Comparison confirmed(Comparison first, const Comparison& again) {
  for (ComparedRow& row : first.rows) {
    const auto found = std::ranges::find(again.rows, row.key, &ComparedRow::key);
    const ComparedRow* second = found == again.rows.end() ? nullptr : &*found;
    const bool open = row.standing == Standing::slower || is_open(row.standing);
    const bool at_fault = !is_fault(row.standing) && second != nullptr && is_fault(second->standing);
    if (!open && !at_fault) continue;
    // Rows of other cases are gone from a comparison of a few.
    if (second == nullptr || second->standing == Standing::gone) {
      if (is_open(row.standing)) continue;
      row.standing = Standing::undecided;
      row.why = "was not measured a second time; the first time: " + row.why;
    } else if (at_fault || row.standing == Standing::slower || second->standing != Standing::slower) {
      const Standing before = row.standing;
      row = *second;
      row.afresh = true;
      row.why =
          fmt::format("first {}, then {}: {}", to_string(before), to_string(second->standing), second->why);
    } else {
      row.why = fmt::format("first undecided, then slower ({}), which is not twice slower: {}",
                            in_words(*second), row.why);
    }
  }
  return first;
}

Confirmation confirm(Comparison first, const Baseline& baseline, const GatePolicy& policy,
                     const MeasureAfresh& afresh) {
  std::vector<std::string> suspects;
  for (const ComparedRow& row : first.rows) {
    if (row.standing == Standing::slower) suspects.push_back(row.key);
  }
  if (suspects.empty()) return {std::move(first), std::nullopt};
  Results again = afresh(suspects);
  // An interrupted measurement has too few launches, and not of all witnesses.
  const Comparison second = again.partial ? Comparison{} : compare(again, baseline, policy);
  return {confirmed(std::move(first), second), std::move(again)};
}

}  // namespace assay
