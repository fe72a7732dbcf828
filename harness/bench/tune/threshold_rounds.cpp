#include "bench/tune/threshold_rounds.hpp"

#include "assay/compare.hpp"
#include "assay/error.hpp"
#include "core/plan/trial_key.hpp"
#include "core/statistics/decision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

/// Takes the policy of the turns of two builds, for the same reasons: many short slices are better than few
/// long ones, and threads that hand work to each other need longer to show their usual pace.
MeasurePolicy measure_policy(const ThresholdQuestion& question, const ThresholdPolicy& policy) {
  const bool team = question.first.threads > 1 || question.second.threads > 1;
  return {.launches = policy.rounds,
          .slices = 8,
          .slice_seconds = team ? 1e-3 : 2e-4,
          .trial_seconds = team ? 4e-2 : 2e-2,
          .seed = policy.seed};
}

TrialResult result_of(const Trial& trial, const Agreement& agreement) {
  return {.key = trial.key,
          .operation = trial.row.operation,
          .variant = trial.operation->variants()[trial.variant].name,
          .problem = trial.row.problem,
          .threads = trial.context.threads,
          .agreement = agreement};
}

/// A call of several seconds is sampled in the first launches only.
void require_rounds(const TrialResult& trial) {
  const auto full = [](const Launch& launch) { return !launch.empty(); };
  const auto rounds = static_cast<std::size_t>(std::ranges::count_if(trial.launches, full));
  if (rounds >= fewest_rounds) return;
  throw Error(
      trial.key, fmt::format("gave samples in {} rounds, and {} are needed", rounds, fewest_rounds),
      fmt::format("give a smaller --to when a call takes over {:g} s, or more --rounds", long_call_seconds));
}

}  // namespace

ThresholdRounds::ThresholdRounds(const ThresholdQuestion& question, ThresholdPolicy policy, Sample sample,
                                 Hooks hooks)
    : question_(question), policy_(policy), sample_(std::move(sample)), hooks_(std::move(hooks)) {}

Trial ThresholdRounds::trial_at(const Contestant& contestant, const std::string& problem) const {
  const Operation& operation = *question_.operation;
  const std::string name(operation.name());
  return {
      .operation = &operation,
      .variant = contestant.variant,
      .row = {.operation = name, .problem = problem},
      .context = {.threads = contestant.threads},
      .key =
          TrialKey{name, operation.variants()[contestant.variant].name, problem, contestant.threads}.text()};
}

double ThresholdRounds::share_of(std::size_t measured) const {
  constexpr double beside_bisection = 8;  // both ends, and quarters of the stretches on both sides of the gap
  const auto sizes = static_cast<double>(question_.sizes.size());
  return std::min(1.0, static_cast<double>(measured) / std::min(sizes, beside_bisection + std::log2(sizes)));
}

Interval ThresholdRounds::ratio_at(Index size) {
  const std::string problem = question_.problem_at(size);
  const std::vector<Trial> trials{trial_at(question_.first, problem), trial_at(question_.second, problem)};
  const std::string place = fmt::format("{}={}", question_.vary, size);
  const Hooks here{
      .progress = [&](std::string_view what,
                      std::optional<double> done) { hooks_.say(fmt::format("{}: {}", place, what), done); },
      .stop = hooks_.stop};
  const auto begin = share_of(times_.size()), end = share_of(times_.size() + 1);
  const std::vector<Checked> agreements = check(trials, policy_.seed, here.part(begin, begin));
  if (hooks_.stopped()) return {};
  Results results;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!agreements[i].agrees && wrong_.empty()) {
      wrong_ = fmt::format("{}: {}", trials[i].key, agreements[i].detail);
    }
    results.trials.push_back(result_of(trials[i], agreements[i]));
  }
  if (ended()) return {};
  measure(results, measure_policy(question_, policy_), sample_, here.part(begin, end));
  if (hooks_.stopped()) return {};
  for (const TrialResult& trial : results.trials) require_rounds(trial);
  const TrialResult& first = results.trials.front();
  const TrialResult& second = results.trials.back();
  const PairTimes found{.first = time_of(first), .second = time_of(second), .ratio = speedup(first, second)};
  times_[size] = found;
  return found.ratio;
}

}  // namespace assay
