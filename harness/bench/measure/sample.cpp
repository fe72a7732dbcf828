// Sampling of one launch: calibration, allocations, and the mixed slices of each case.

#include "assay/measure.hpp"
#include "assay/suite.hpp"
#include "bench/measure/allocations.hpp"
#include "bench/measure/measure.hpp"
#include "bench/measure/planted.hpp"
#include "bench/measure/sampler.hpp"
#include "core/check/contained.hpp"
#include "core/check/freeze.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace assay {
namespace {

/// Fewer say nothing about spread.
constexpr int fewest_slices = 3;

/// Below this a plan holds the handle of the kernel and its problem: no workspace worth the name.
constexpr double handle_bytes = 1024;

/// A trial of the case at hand, made ready.
struct Ready {
  std::unique_ptr<Timed> timed;
  std::unique_ptr<AuditedSlices> slices;
  TrialSample* sample = nullptr;
  double call_seconds = 0;
};

/// Long calls take three slices in all: one in each of three launches, or all in the only one.
int slices_of_long_call(const MeasurePolicy& policy, int launch) {
  if (policy.launches >= fewest_slices) return launch < fewest_slices ? 1 : 0;
  const int rest = fewest_slices % policy.launches;
  return fewest_slices / policy.launches + (launch < rest ? 1 : 0);
}

int slices_of(double call_seconds, double slice_seconds, const MeasurePolicy& policy) {
  const double affordable = policy.trial_seconds / std::max(call_seconds, slice_seconds);
  return std::clamp(static_cast<int>(std::min(affordable, 1e6)), std::min(fewest_slices, policy.slices),
                    policy.slices);
}

void count_allocations(Ready& trial) {
  const Allocations found = allocations_of_one_call(*trial.timed);
  trial.sample->figures["allocations_per_call"] = found.count;
  trial.sample->figures["allocated_bytes_per_call"] = found.bytes;
}

/// A sum of many terms may be computed with fewer digits and be within its bound. Only calls of this size
/// tell: smaller ones, which are checked in whole, may take another way. Naive comes first in a case.
void compare_precision(const Operation& operation, std::span<const TrialRequest> trials,
                       std::span<TrialSample> samples, std::size_t at) {
  const auto naive = std::ranges::find(trials, "naive", &TrialRequest::variant);
  const auto variant = std::ranges::find(operation.variants(), trials[at].variant, &VariantInfo::name);
  if (naive == trials.end() || operation.fills().back() != Fill::uniform || !variant->precision.empty())
    return;
  const Audit& measure = samples[static_cast<std::size_t>(naive - trials.begin())].audit;
  Audit& audit = samples[at].audit;
  if (!audit.fault.empty()) return;
  audit.fault =
      fewer_digits(std::min(audit.rounded, measure.rounded), audit.rms_error(), measure.rms_error(), "naive");
}

void note_other_clock(Ready& trial) {
  if (const auto seconds = trial.slices->seconds_beside_own_clock())
    trial.sample->figures[std::string(tag_of_other_clock)] = *seconds;
}

/// Workers that the problem asks for may be started at any time.
void freeze_unless_helped(const std::vector<Ready>& trials, const StepReporter& reporter) {
  const auto helped = [](const Ready& trial) { return trial.timed && trial.timed->helpers() > 0; };
  if (std::ranges::none_of(trials, helped)) freeze(reporter.record());
}

using Taken = std::function<void(std::span<const TrialSample>)>;

/// `first`: the position of the first of these trials among all. Samples are handed over before their kernels
/// are destroyed: what kernels do then is no call, and nobody looks at it.
void sample_case(const Registry& registry, const LaunchRequest& request, std::span<const TrialRequest> trials,
                 std::size_t first, std::span<TrialSample> samples, const StepReporter& reporter,
                 const Hooks& hooks, const Taken& taken) {
  const MeasurePolicy& policy = request.policy;
  const Operation& operation = registry.at(trials.front().operation);
  const std::string fields = fields_of(operation, trials.front().problem, trials.front().file);
  const auto workload = operation.open(
      fields, {.fill = operation.fills().back(), .rng = Rng(policy.seed), .file = trials.front().file});
  std::vector<Ready> ready;
  std::vector<Burst> bursts;
  ready.reserve(trials.size());
  const Cost cost = operation.cost(fields);
  std::optional<double> naive_seconds;
  static_cast<void>(workload->timed(0, {}));  // makes the output that all share: no variant's workspace
  for (std::size_t i = 0; i < trials.size() && !hooks.stopped(); ++i) {
    const TrialRequest& trial = trials[i];
    hooks.say("measure " + trial.key);
    const auto named = std::ranges::find(operation.variants(), trial.variant, &VariantInfo::name);
    const auto variant = static_cast<std::size_t>(named - operation.variants().begin());
    ready.push_back({.timed = nullptr, .slices = nullptr, .sample = &samples[i]});
    Ready& next = ready.back();
    const double limit = step_limit(policy.time_limit, naive_seconds, cost);
    Slice first_call;
    reporter.call(first + i, limit, [&] {
      const Surroundings before = Surroundings::now();
      const double kept =
          bytes_kept_by([&] { next.timed = workload->timed(variant, {.threads = trial.threads}); });
      next.sample->figures["prepare_seconds"] = next.timed->prepare_seconds();
      next.timed = planted(std::move(next.timed), slowdown_of_build(trial.operation, trial.variant));
      next.sample->figures["workspace_bytes"] = kept < handle_bytes ? 0 : kept;
      const auto judging = policy.judge_every ? AuditedSlices::Judging::every : AuditedSlices::Judging::some;
      next.slices = std::make_unique<AuditedSlices>(*next.timed, trial.threads, before, judging);
      first_call = slice_of(next.slices->take(1, false));
    });
    if (trial.variant == "naive") naive_seconds = first_call.seconds;
    const bool found_out = !next.slices->audit().fault.empty();
    if (found_out || first_call.seconds > long_call_seconds) {
      const int slices = found_out ? 0 : slices_of_long_call(policy, request.index);
      if (slices > 0) samples[i].slices.push_back(first_call);
      for (int s = 1; s < slices && !hooks.stopped(); ++s) {
        reporter.call(first + i, limit,
                      [&] { samples[i].slices.push_back(slice_of(next.slices->take(1, false))); });
      }
      samples[i].audit = next.slices->audit();
      note_other_clock(next);
      compare_precision(operation, trials, samples, i);
      taken(samples.subspan(i, 1));
      next.slices.reset();
      next.timed.reset();
      continue;
    }
    double renewal = 0;
    reporter.call(first + i, limit, [&] {
      count_allocations(next);
      next.call_seconds = calibrated(*next.timed, first_call.seconds, policy.slice_seconds);
      renewal = renewal_seconds(*next.timed);
    });
    const Index calls = policy.calls_per_slice > 0
                            ? policy.calls_per_slice
                            : calls_per_slice(next.call_seconds + renewal, policy.slice_seconds);
    bursts.push_back({.name = trial.key,
                      .trial = next.slices.get(),
                      .calls = calls,
                      .slices = slices_of(next.call_seconds,
                                          (next.call_seconds + renewal) * static_cast<double>(calls), policy),
                      .warm_up = next.call_seconds < 1e-3,
                      .step = first + i,
                      .limit_seconds = limit,
                      .figures = &samples[i].figures});
  }
  if (policy.strict && request.record >= 0) freeze_unless_helped(ready, reporter);
  const std::vector<Launch> launches = sample_mixed(bursts, hooks, reporter);
  std::size_t burst = 0;
  for (Ready& trial : ready) {
    if (trial.timed == nullptr) continue;
    trial.sample->slices = launches[burst++];
    note_other_clock(trial);
    trial.sample->audit = trial.slices->audit();
    compare_precision(operation, trials, samples, static_cast<std::size_t>(trial.sample - samples.data()));
    taken({trial.sample, 1});
  }
}

}  // namespace

std::vector<TrialSample> sample_here(const Registry& registry, const LaunchRequest& request,
                                     const Hooks& hooks,
                                     const std::function<void(std::span<const TrialSample>)>& taken) {
  const auto& trials = request.trials;
  std::optional<SharedRecord> record;
  if (request.record >= 0) record.emplace(request.record);
  const StepReporter reporter(record ? record->get() : nullptr);
  std::vector<TrialSample> out;
  for (const TrialRequest& trial : trials) out.push_back({.key = trial.key});
  for (std::size_t begin = 0; begin < trials.size() && !hooks.stopped();) {
    std::size_t end = begin + 1;
    while (end < trials.size() && trials[end].same_case(trials[begin])) ++end;
    const std::span<const TrialRequest> all(trials);
    const auto samples = std::span<TrialSample>(out).subspan(begin, end - begin);
    sample_case(
        registry, request, all.subspan(begin, end - begin), begin, samples, reporter, hooks,
        taken ? taken : [](std::span<const TrialSample>) {});
    begin = end;
  }
  return out;
}

}  // namespace assay
