// Judges each row of two sets of results: which trials are compared, and beside which witnesses.
#include "assay/compare.hpp"
#include "bench/compare/judge.hpp"
#include "bench/compare/launches.hpp"
#include "bench/compare/words.hpp"
#include "core/machine/roofline.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace assay {
namespace {

/// Naive variants that must have moved together before they speak for the machine as a whole.
constexpr std::size_t fewest_for_machine = 3;

bool is_naive(const TrialResult& trial) { return trial.variant == "naive"; }

/// The witnesses of all rows. A naive variant is judged beside the other variants of its case.
/// Results of foreign programs have no naive variants at all; there all other rows speak for the machine, if
/// they are enough.
class AllWitnesses {
 public:
  AllWitnesses(const std::vector<const TrialResult*>& rows, const Side& before, const Side& after)
      : any_naive_(std::ranges::any_of(rows, [](const TrialResult* row) { return is_naive(*row); })) {
    std::set<std::string> machine;
    std::map<std::pair<std::string, bool>, std::set<std::string>> cases;
    for (const TrialResult* row : rows) {
      if (is_naive(*row) || !any_naive_) machine.insert(row->key);
      if (any_naive_) cases[{case_of(*row), is_naive(*row)}].insert(row->key);
    }
    machine_ = witnesses_of(before, after, std::move(machine));
    for (auto& [which, keys] : cases) cases_[which] = witnesses_of(before, after, std::move(keys));
  }

  bool any_naive() const { return any_naive_; }

  const Witnesses& of_case(const TrialResult& row) const {
    const auto found = cases_.find({case_of(row), !is_naive(row)});
    return found == cases_.end() ? none_ : found->second;
  }

  const Witnesses& of_suite(const TrialResult& row) const {
    return machine_.beside(row.key) >= (any_naive_ ? 1 : fewest_for_machine) ? machine_ : none_;
  }

 private:
  bool any_naive_;
  Witnesses machine_, none_;
  std::map<std::pair<std::string, bool>, Witnesses> cases_;  ///< by case and whether they are naive
};

Interval ratio_beside(const Side& before, const Side& after, const std::string& key,
                      const Witnesses& witnesses) {
  return ratio_of(relative(before, after, key, witnesses));
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

/// How far kernels may have drifted apart between the sides. `weather`: see change_of_weather().
Drift drift_of(const TrialResult& trial, const Results& current, std::size_t recordings,
               const std::string& weather) {
  if (!weather.empty()) return {farthest_drift, weather};
  if (recordings == 1 && lives_in_memory(trial, current))
    return {drift_of_memory, "its data lie in memory, of whose drift one recording shows nothing"};
  return {};
}

/// The tolerance of a case with this spread.
double limit_of(double spread, double plain_limit) {
  return std::max(plain_limit, std::exp(deviations_allowed * spread));
}

/// How the other rows moved, in logarithms of ratios.
struct Movement {
  double middle = 0, uncertainty = 0;
  double apart = 0;  ///< how far a row may lie from them for no reason that its own samples show
};

/// Repetitions of foreign programs share no moment with those of other rows, so that these tell how far the
/// machine moved as a whole alone. `without`: the row that is judged, where they are few.
Movement movement_of(const std::vector<Interval>& times, std::size_t without) {
  constexpr double deviations = 1.645;    // from the middle to either end of such an interval
  constexpr double of_median = 1.25;      // deviations of a median of normal numbers to those of their mean
  constexpr double of_absolute = 1.4826;  // deviations to the median of absolute ones
  constexpr double narrowest = 1e-9;
  std::vector<double> middles, halves, apart;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i == without) continue;
    middles.push_back(std::log(times[i].middle));
    halves.push_back(std::max(std::log(times[i].high / times[i].low) / 2, narrowest));
  }
  Movement out{.middle = median(middles)};
  for (std::size_t i = 0; i < middles.size(); ++i)
    apart.push_back(of_absolute * deviations * std::abs(middles[i] - out.middle) / halves[i]);
  const double half = median(halves), times_explained = median(apart);
  out.uncertainty = of_median * half / std::sqrt(static_cast<double>(middles.size()));
  const double beyond = times_explained * times_explained - explained_deviations * explained_deviations;
  out.apart = deviations_of_rows * half / deviations * std::sqrt(std::max(0.0, beyond));
  return out;
}

Interval beside(const Interval& time, const Movement& others) {
  return {time.low / std::exp(others.middle + others.uncertainty), time.middle / std::exp(others.middle),
          time.high / std::exp(others.middle - others.uncertainty), time.coverage, time.basis};
}

/// Completes the evidence of a row of a foreign program. `times`: the ratios of all rows.
void add_foreign(Evidence& out, const Paired& own, const std::vector<Interval>& times, std::size_t row) {
  constexpr std::size_t few = 64;  // of more, one says nothing about their median
  // Either side may look steady by chance. A regression that is noisy as well has to be sure.
  out.of_spread = std::max(std::exchange(out.limit, out.plain_limit),
                           limit_of(robust_deviation(own.after), out.plain_limit));
  if (!out.beside_suite) return;
  const Movement others = movement_of(times, times.size() > few ? times.size() : row);
  const Interval apart = beside(out.time, others);
  if (apart.high / apart.low < out.beside_suite->high / out.beside_suite->low) out.beside_suite = apart;
  const double coverage = 1 - chance_of_false_alarm / static_cast<double>(times.size());
  if (const Interval sure = ratio_of(own, coverage); sure.coverage >= coverage)
    out.sure = beside(sure, others);
  if (const double ratio = std::exp(others.apart); ratio > std::max(out.drift.times, out.plain_limit))
    out.drift = {ratio, "the other trials moved apart by more than their own samples do"};
}

Evidence evidence_for(const TrialResult& row, const Side& before, const Side& after,
                      const AllWitnesses& witnesses, double limit, const GatePolicy& policy, Drift drift) {
  const std::string& key = row.key;
  Evidence out{
      .launches_before = launches_in(before.rows.at(key).logs),
      .launches_after = launches_in(after.rows.at(key).logs),
      .time = ratio_beside(before, after, key, {}),
      .case_witness = is_naive(row) ? "the other variants of its case" : "the naive variant of its case",
      .suite_is_naive = witnesses.any_naive(),
      .limit = limit,
      .plain_limit = policy.limit_of(key),
      .drift = std::move(drift)};
  const Witnesses &of_case = witnesses.of_case(row), &of_suite = witnesses.of_suite(row);
  if (of_case.beside(key) > 0) out.beside_case = ratio_beside(before, after, key, of_case);
  if (of_suite.beside(key) > 0) out.beside_suite = ratio_beside(before, after, key, of_suite);
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
  const AllWitnesses witnesses(measured, before, after);
  const std::string weather = change_of_weather(recordings, current.weather);
  std::vector<double> spreads, machine_ratios;
  std::vector<Interval> times;
  for (const TrialResult* row : measured) {
    const Witnesses& of_suite = witnesses.of_suite(*row);
    const bool beside_suite = of_suite.beside(row->key) > 0;
    spreads.push_back(
        spread_of(relative(before, after, row->key, beside_suite ? of_suite : witnesses.of_case(*row))));
    times.push_back(ratio_beside(before, after, row->key, {}));
    if (!witnesses.any_naive() || is_naive(*row)) machine_ratios.push_back(times.back().middle);
  }
  out.no_naive = !witnesses.any_naive();
  judge_machine(out, machine_ratios);
  const double typical = median(spreads);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const TrialResult& row = *measured[i];
    // Few recordings can lie close together by chance, so no case counts as steadier than the typical one of
    // this comparison.
    const double spread = std::max(spreads[i], typical);
    auto evidence = evidence_for(row, before, after, witnesses, limit_of(spread, policy.limit_of(row.key)),
                                 policy, drift_of(row, current, recordings.size(), weather));
    if (out.no_naive) add_foreign(evidence, relative(before, after, row.key, {}), times, i);
    auto finding = judge(evidence);
    if (!out.unfit.empty()) finding = {Standing::undecided, out.unfit};
    out.rows.push_back({.key = row.key,
                        .standing = finding.standing,
                        .ratio = judged_ratio(evidence),
                        .limit = evidence.limit,
                        .why = std::move(finding.why),
                        .time_ratio = evidence.time,
                        .to_naive = evidence.beside_case.value_or(Interval{}),
                        .launches = std::min(evidence.launches_before, evidence.launches_after),
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

std::string why_gone(const TrialResult& trial, const Results& current) {
  if (current.shard && !contains(current.shard->shard, trial.operation, trial.problem)) {
    return "belongs to another shard than these results";
  }
  return current.partial ? "is missing: the run was interrupted" : "was there before and is not any more";
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
    out.rows.push_back({.key = trial.key, .standing = Standing::gone, .why = why_gone(trial, current)});
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
  std::map<std::string_view, const ComparedRow*> of_again;
  for (const ComparedRow& row : again.rows) of_again.emplace(row.key, &row);
  for (ComparedRow& row : first.rows) {
    const auto found = of_again.find(row.key);
    const ComparedRow* second = found == of_again.end() ? nullptr : found->second;
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
