// Predicts the epoch of a suite, and what each operation's speed-up is worth in it, from measured shares.
#include "assay/epoch.hpp"
#include "bench/report/content.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

namespace assay {
namespace {

std::string why_not_measured(const TrialResult& trial) {
  if (!trial.skipped.empty()) return "skipped, " + trial.skipped;
  if (trial.failure) return "it " + trial.failure->reason;
  if (!trial.agreement.agrees) return "it disagrees with the oracle";
  if (!trial.impossible.empty()) return "it is faster than any kernel can be";
  return "it was not measured";
}

using Trials = std::vector<const TrialResult*>;

/// A trial of each case that the network counts.
Trials counted_cases(const Results& results) {
  Trials out;
  std::set<std::string> seen;
  for (const TrialResult& trial : results.trials) {
    if (trial.per_step > 0 && seen.insert(case_of(trial)).second) out.push_back(&trial);
  }
  return out;
}

/// The trial whose time counts for a case, or why there is none.
struct Choice {
  const TrialResult* trial = nullptr;
  std::string why;
};

Choice naive_of(const Trials& of_case, const TrialResult&) {
  const auto naive = std::ranges::find(of_case, "naive", &TrialResult::variant);
  if (naive == of_case.end()) return {nullptr, "there is no naive trial"};
  if (is_measured(**naive)) return {*naive, ""};
  return {nullptr, why_not_measured(**naive)};
}

Choice fastest_of(const Trials& of_case, const TrialResult& row) {
  Choice best{nullptr, "no variant was measured"};
  for (const TrialResult* trial : of_case) {
    if (trial->workload != row.workload) {
      if (best.trial == nullptr) best.why = "its workload is another one there";
      continue;
    }
    if (!is_measured(*trial)) continue;
    if (best.trial == nullptr || time_of(*trial).middle < time_of(*best.trial).middle) best = {trial, ""};
  }
  return best;
}

/// One epoch for each launch. A launch's epoch is a measurement like any other, so time_of() judges it.
Interval from_launches(const Trials& chosen, const Trials& rows, std::size_t launches, double steps) {
  std::vector<double> sums(launches);
  for (std::size_t i = 0; i < rows.size(); ++i) add_launches(sums, *chosen[i], rows[i]->per_step);
  TrialResult epochs;
  for (const double seconds : sums) epochs.launches.push_back({Slice{.seconds = steps * seconds}});
  return time_of(epochs);
}

Interval from_cases(const std::vector<Contribution>& contributions, double steps) {
  Interval sum{.coverage = 1};
  for (const Contribution& part : contributions) {
    sum.low += steps * part.per_step * part.seconds.low;
    sum.middle += steps * part.per_step * part.seconds.middle;
    sum.high += steps * part.per_step * part.seconds.high;
    sum.coverage = std::min(sum.coverage, part.seconds.coverage);
  }
  return sum;
}

std::string missing(const std::vector<std::string>& reasons) {
  const std::string more = reasons.size() > 1 ? fmt::format(", and {} more counted case{}",
                                                            reasons.size() - 1, reasons.size() > 2 ? "s" : "")
                                              : "";
  return fmt::format("{}{}: a sum over the rest would not be the epoch", reasons.front(), more);
}

/// Why no sum over the cases is an epoch, whatever their times; empty where one may be.
std::string why_no_epoch(const Results& results, const Results& times, std::size_t counted) {
  if (results.steps_per_epoch <= 0 || counted == 0)
    return "the suite is no network: it states no steps per epoch or counts no case";
  if (times.partial) return "the run was interrupted";
  const std::string& mixed = results.mixed_machines.empty() ? times.mixed_machines : results.mixed_machines;
  if (!mixed.empty()) return mixed + ": their seconds do not add up";
  if (results.shard && results.shard->shard.count > 1)
    return fmt::format("this is one of {} shards: a sum over its cases would not be the epoch",
                       results.shard->shard.count);
  if (results.cases_left_out <= 0) return "";
  return fmt::format("{} cases of the suite were not selected: a sum over the rest would not be the epoch",
                     results.cases_left_out);
}

/// `results` says which cases count and how often; the times come from `times`.
Prediction predict_from(const std::string& label, const Results& results, const Results& times,
                        Choice (*choose)(const Trials& of_case, const TrialResult& row)) {
  const Trials rows = counted_cases(results);
  Prediction out{.label = label, .impossible = why_no_epoch(results, times, rows.size())};
  if (!out.impossible.empty()) return out;
  std::map<std::string, Trials> trials;  // by case
  for (const TrialResult& trial : times.trials) trials[case_of(trial)].push_back(&trial);
  Trials chosen;
  std::vector<std::string> reasons;
  for (const TrialResult* row : rows) {
    const Choice choice = choose(trials[case_of(*row)], *row);
    if (choice.trial == nullptr) reasons.push_back(fmt::format("{}: {}", case_of(*row), choice.why));
    chosen.push_back(choice.trial);
  }
  if (!reasons.empty()) {
    out.impossible = missing(reasons);
    return out;
  }

  out.steps_per_epoch = results.steps_per_epoch;
  out.launches = sampled_launches(*chosen.front());
  bool all_in_every_launch = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Interval seconds = time_of(*chosen[i]);
    out.contributions.push_back({.key = chosen[i]->key,
                                 .note = rows[i]->note,
                                 .per_step = rows[i]->per_step,
                                 .seconds = seconds,
                                 .seconds_per_step = rows[i]->per_step * seconds.middle});
    const std::size_t sampled = sampled_launches(*chosen[i]);
    // Launches of different shards have only their numbers in common.
    all_in_every_launch = all_in_every_launch && times.merged_shards <= 1 &&
                          sampled == chosen.front()->launches.size() && sampled == chosen[i]->launches.size();
    out.launches = std::min(out.launches, sampled);
  }
  const double step = std::accumulate(out.contributions.begin(), out.contributions.end(), 0.0,
                                      [](double sum, const auto& c) { return sum + c.seconds_per_step; });
  for (Contribution& part : out.contributions) part.share = 100 * part.seconds_per_step / step;
  std::ranges::stable_sort(out.contributions, std::greater{}, &Contribution::seconds_per_step);

  out.source = all_in_every_launch && out.launches > 1 ? IntervalSource::launches : IntervalSource::cases;
  out.seconds = out.source == IntervalSource::launches
                    ? from_launches(chosen, rows, out.launches, results.steps_per_epoch)
                    : from_cases(out.contributions, results.steps_per_epoch);
  out.left_out = {
      "what the suite does not list of a step (suites/README.md says what), data loading, start-up and "
      "validation",
      "what cases do to each other in one process: each was timed alone, with its operands where repeated "
      "calls leave them"};
  return out;
}

/// Seconds of a step by operation: one number for each launch, or a single one made of medians.
using Steps = std::map<std::string, std::vector<double>>;

bool of_launches(const Prediction& one) { return one.source == IntervalSource::launches; }

Steps steps_of(const Results& results, const Prediction& prediction, bool by_launch) {
  Steps out;
  for (const Contribution& part : prediction.contributions) {
    const TrialResult& trial = *std::ranges::find(results.trials, part.key, &TrialResult::key);
    std::vector<double>& sums = out[trial.operation];
    sums.resize(by_launch ? prediction.launches : 1);
    add_launches(sums, trial, part.per_step);
  }
  return out;
}

std::vector<double> sum_of(const Steps& steps) {
  std::vector<double> out(steps.begin()->second.size());
  for (const auto& [operation, seconds] : steps) {
    std::ranges::transform(out, seconds, out.begin(), std::plus{});
  }
  return out;
}

/// Returns the time of all steps / the same without `seconds`. It is computed launch by launch, as `epoch`
/// is, so that no effect exceeds its limit. Infinite where no time remains.
double limit_of(const std::vector<double>& all, const std::vector<double>& seconds) {
  std::vector<double> others = all;
  std::ranges::transform(others, seconds, others.begin(), std::minus{});
  if (std::ranges::min(others) <= 0) return std::numeric_limits<double>::infinity();
  return ratio_of_pairs(all, others).middle;
}

/// Returns `seconds` in percent of all steps, as the mean over launches: such shares sum to 100.
double share_of(const std::vector<double>& all, const std::vector<double>& seconds) {
  double sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) sum += seconds[i] / all[i];
  return 100 * sum / static_cast<double>(all.size());
}

}  // namespace

std::string_view to_string(IntervalSource source) {
  return source == IntervalSource::launches ? "the epochs of the single launches"
                                            : "the sums of the ends of the intervals of the cases";
}

std::string prediction_text(const std::string& suite, const std::vector<Prediction>& predictions) {
  constexpr std::size_t most_contributions = 8;
  std::vector<doc::Block> out{"suite " + suite};
  std::string outcome = "NO PREDICTION";
  std::vector<std::string> left_out;
  for (const Prediction& one : predictions) {
    if (!one.impossible.empty()) {
      out.emplace_back(one.label + ": no prediction: " + one.impossible);
      continue;
    }
    out.emplace_back(fmt::format("{}: {} per epoch, {} interval from {}", one.label,
                                 seconds_text(one.seconds), percent_text(one.seconds.coverage),
                                 to_string(one.source)));
    doc::List parts;
    double others = 0;
    for (const Contribution& part : one.contributions) {
      if (parts.items.size() == most_contributions) {
        others += part.share;
        continue;
      }
      parts.items.emplace_back(fmt::format("{} % {}, {} x {}", figure(part.share), part.key,
                                           count_text(part.per_step), seconds_text(part.seconds.middle)));
    }
    if (const std::size_t more = one.contributions.size() - parts.items.size(); more > 0)
      parts.items.emplace_back(fmt::format("{} % {} more", figure(others), more));
    out.emplace_back(std::move(parts));
    for (const std::string& line : one.left_out) {
      if (std::ranges::find(left_out, line) == left_out.end()) left_out.push_back(line);
    }
    outcome = fmt::format("PREDICTED: {} per epoch, {}", seconds_text(one.seconds), one.label);
  }
  for (const std::string& line : left_out) out.emplace_back("left out: " + line);
  out.emplace_back(outcome);
  return doc::to_text(out);
}

std::vector<Prediction> predict(const Results& results, const Results* baseline) {
  std::vector<Prediction> out{predict_from("naive", results, results, naive_of),
                              predict_from("best of each case", results, results, fastest_of)};
  if (baseline != nullptr) out.push_back(predict_from("baseline", results, *baseline, fastest_of));
  for (Prediction& prediction : out) {
    if (prediction.label == "naive" || !prediction.impossible.empty()) continue;
    prediction.left_out.push_back(
        "that the fastest variant was chosen by the same times that are summed: where variants are close, "
        "the sum is a little too small");
  }
  return out;
}

Composition composition(const Results& results, const std::vector<Prediction>& predictions) {
  const Prediction &naive = predictions.at(0), &best = predictions.at(1);
  for (const Prediction* one : {&naive, &best}) {
    if (!one->impossible.empty()) return {.impossible = one->label + ": " + one->impossible};
  }
  const bool by_launch = of_launches(naive) && of_launches(best) && naive.launches == best.launches;
  const Steps before = steps_of(results, naive, by_launch), after = steps_of(results, best, by_launch);
  const std::vector<double> slow = sum_of(before), fast = sum_of(after);
  Composition out{.together = ratio_of_pairs(slow, fast)};
  for (const auto& [operation, seconds] : before) {
    const std::vector<double>& replacing = after.at(operation);
    std::vector<double> replaced = slow;
    for (std::size_t i = 0; i < slow.size(); ++i) replaced[i] += replacing[i] - seconds[i];
    out.effects.push_back({.operation = operation,
                           .share = share_of(slow, seconds),
                           .speedup = ratio_of_pairs(seconds, replacing),
                           .epoch = ratio_of_pairs(slow, replaced),
                           .limit = limit_of(slow, seconds),
                           .share_left = share_of(fast, replacing),
                           .limit_left = limit_of(fast, replacing)});
  }
  std::ranges::stable_sort(out.effects, std::greater{},
                           [](const OperationEffect& one) { return one.epoch.middle; });
  return out;
}

}  // namespace assay
