#include "assay/measure.hpp"
#include "bench/measure/figures.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace assay {
namespace {

bool to_measure(const TrialResult& trial) { return trial.skipped.empty() && trial.agreement.agrees; }

std::string remark_of(const TrialResult& trial) {
  std::size_t slices = 0;
  double longest = 0;
  for (const Launch& launch : trial.launches) {
    slices += launch.size();
    for (const Slice& slice : launch) longest = std::max(longest, slice.seconds);
  }
  if (slices > 0 && slices <= 3 && longest > long_call_seconds) {
    return fmt::format("one call takes over {} s: timed {} times and no more", long_call_seconds, slices);
  }
  return "";
}

void store(TrialResult& trial, TrialSample sample) {
  if (sample.failure) {
    trial.agreement = {.agrees = false, .detail = sample.failure->reason};
    trial.failure = std::move(sample.failure);
    trial.launches.clear();
  }
  if (sample.audit.fault.empty())
    sample.audit.fault = other_figures(trial.agreement.figures, sample.audit.figures);
  trial.audit.add(sample.audit);
  if (!sample.audit.fault.empty()) {
    trial.agreement.agrees = false;
    trial.agreement.detail = "in a slice that was timed: " + sample.audit.fault;
    trial.launches.clear();
    return;
  }
  if (sample.slices.empty()) return;
  join(trial.figures, sample.figures, trial.launches.size());
  trial.launches.push_back(std::move(sample.slices));
}

}  // namespace

void measure(Results& results, const MeasurePolicy& policy, const Sample& sample, const Hooks& hooks) {
  LaunchRequest request{.policy = policy};
  std::vector<TrialResult*> wanted;
  for (TrialResult& trial : results.trials) {
    if (!to_measure(trial)) continue;
    trial.launches.clear();
    trial.figures.clear();
    trial.impossible.clear();
    wanted.push_back(&trial);
    request.trials.push_back(
        {trial.key, trial.operation, trial.variant, trial.problem, trial.threads, trial.file});
  }
  results.figures = measured_figures();
  if (wanted.empty()) return;
  const WeatherStation station;
  for (request.index = 0; request.index < policy.launches && !hooks.stopped(); ++request.index) {
    std::vector<TrialSample> samples = sample(request, hooks);
    for (std::size_t i = 0; i < wanted.size() && i < samples.size(); ++i)
      store(*wanted[i], std::move(samples[i]));
    std::erase_if(wanted, [](const TrialResult* trial) { return !trial->agreement.agrees; });
    std::erase_if(request.trials, [&](const TrialRequest& trial) {
      return std::ranges::find(wanted, trial.key, &TrialResult::key) == wanted.end();
    });
    if (wanted.empty()) break;
  }
  results.weather = station.since();
  results.partial = hooks.stopped();
  for (TrialResult* trial : wanted) {
    std::string remark = remark_of(*trial);
    if (trial->remark.starts_with(works_elsewhere) || trial->remark.starts_with(clock_not_taken)) {
      std::string stands = trial->remark.substr(0, trial->remark.find("; "));
      const auto other = trial->figures.find(std::string(tag_of_other_clock));
      if (other != trial->figures.end())
        stands = fmt::format("{}, timed by its own clock: a call takes {} by ours", works_elsewhere,
                             seconds_text(other->second));
      remark = stands + (remark.empty() ? "" : "; ") + remark;
    }
    trial->remark = std::move(remark);
  }
}

}  // namespace assay
