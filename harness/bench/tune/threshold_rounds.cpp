#include "bench/tune/threshold_rounds.hpp"

#include "assay/error.hpp"
#include "core/plan/trial_key.hpp"
#include "core/statistics/statistics.hpp"
#include "core/tune/turns.hpp"

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

/// The median over the slices of each variant; a call of several seconds is sampled in the first starts only.
std::vector<Turn> turns_of(const std::vector<TrialSample>& samples, std::span<const std::size_t> order) {
  std::vector<Turn> out;
  for (const std::size_t i : order) {
    if (samples[i].slices.empty()) return {};
    const std::vector<std::vector<double>> seconds{{median(seconds_of(samples[i].slices))}};
    out.push_back({.seconds = seconds, .control = seconds});
  }
  return out;
}

/// How a sample disagrees with the oracle or came to no end; empty where it did neither.
std::string fault_of(const TrialSample& sample) {
  if (sample.failure) return sample.failure->reason;
  return sample.audit.fault.empty() ? "" : "in a slice that was timed: " + sample.audit.fault;
}

Interval median_time(const Candidate& candidate) {
  std::vector<double> seconds;
  for (const Turn& turn : candidate.turns) seconds.push_back(turn.seconds.front().front());
  return median_interval(seconds);
}

}  // namespace

ThresholdRounds::ThresholdRounds(const ThresholdQuestion& question, ThresholdPolicy policy, Sample sample,
                                 Hooks hooks, std::filesystem::path passed_corners)
    : question_(question),
      policy_(policy),
      sample_(std::move(sample)),
      hooks_(std::move(hooks)),
      passed_corners_(std::move(passed_corners)) {}

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

MeasuredSize ThresholdRounds::measured_at(Index size) {
  const std::string problem = question_.problem_at(size);
  const std::vector<Trial> trials{trial_at(question_.first, problem), trial_at(question_.second, problem)};
  const std::string place = fmt::format("{}={}", question_.vary, size);
  const Hooks here{
      .progress = [&](std::string_view what,
                      std::optional<double> done) { hooks_.say(fmt::format("{}: {}", place, what), done); },
      .stop = hooks_.stop};
  // The share of the search that is over, by the number of sizes that it usually takes: those of the
  // bisection, both ends, and quarters of the stretches on both sides of the gap.
  const auto sizes = static_cast<double>(question_.sizes.size());
  const double usual = std::min(sizes, 8 + std::log2(sizes));
  const double begin = std::min(1.0, measured_ / usual), end = std::min(1.0, (measured_ + 1) / usual);
  const Hooks checking = here.part(begin, begin);
  const std::vector<Checked> agreements =
      check(trials, policy_.seed, checking, {}, Sizes::own,
            check_corners(trials, this_machine(), policy_.seed, passed_corners_, checking));
  if (hooks_.stopped()) return {};
  LaunchRequest request{.policy = measure_policy(question_, policy_)};
  std::vector<Candidate> both;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& trial = trials[i];
    if (!agreements[i].agrees && wrong_.empty())
      wrong_ = fmt::format("{}: {}", trial.key, agreements[i].detail);
    const std::string& variant = trial.operation->variants()[trial.variant].name;
    request.trials.push_back({trial.key, trial.row.operation, variant, problem, trial.context.threads});
    both.push_back({.name = trial.key});
  }
  if (ended()) return {};
  const Hooks sampling = here.part(begin, end);
  const TakeTurns take_turns = [&](std::span<const std::size_t> order, int round) {
    request.index = round;
    const std::vector<TrialSample> samples = sample_(request, sampling);
    if (samples.size() < both.size()) return std::vector<Turn>();
    for (std::size_t i = 0; i < both.size(); ++i) {
      if (const std::string fault = fault_of(samples[i]); !fault.empty() && wrong_.empty())
        wrong_ = fmt::format("{}: {}", both[i].name, fault);
    }
    return wrong_.empty() ? turns_of(samples, order) : std::vector<Turn>();
  };
  measure_rounds(both, {.rounds = policy_.rounds, .seed = policy_.seed, .looks = 0}, take_turns, sampling);
  if (ended()) return {};
  if (const std::size_t rounds = rounds_of(both); rounds < fewest_rounds) {
    throw Error(both.front().name,
                fmt::format("gave samples in {} rounds, and {} are needed", rounds, fewest_rounds),
                fmt::format("give a smaller --to when a call takes over {:g} s, or more --rounds",
                            long_call_seconds));
  }
  ++measured_;
  return {.size = size,
          .ratio = ratio_between(both.front(), both.back()),
          .first = median_time(both.front()),
          .second = median_time(both.back())};
}

}  // namespace assay
