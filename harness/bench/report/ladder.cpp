// The gain of each idea over the one before, from naive to the fastest.
#include "bench/report/content.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace assay {
namespace {

std::string_view without_tier(std::string_view variant) { return variant.substr(0, variant.find('@')); }

/// Trials of one operation, by variant without tier and by problem: the fastest tier.
class FastestTiers {
 public:
  FastestTiers(const Results& results, const std::string& operation) {
    for (const TrialResult& trial : results.trials) {
      if (trial.operation != operation || !is_measured(trial)) continue;
      const std::string variant(without_tier(trial.variant));
      most_threads_[variant] = std::max(most_threads_[variant], trial.threads);
      const TrialResult*& best = fastest_[{variant, trial.problem, trial.threads}];
      if (best == nullptr || time_of(trial).middle < time_of(*best).middle) best = &trial;
      problems_.insert(trial.problem);
    }
  }

  const TrialResult* at(const std::string& variant, const std::string& problem, int threads) const {
    const auto found = fastest_.find({variant, problem, threads});
    return found == fastest_.end() ? nullptr : found->second;
  }
  int most_threads(const std::string& variant) const {
    const auto found = most_threads_.find(variant);
    return found == most_threads_.end() ? 1 : found->second;
  }
  const std::set<std::string>& problems() const { return problems_; }

 private:
  std::map<std::tuple<std::string, std::string, int>, const TrialResult*> fastest_;
  std::map<std::string, int> most_threads_;
  std::set<std::string> problems_;
};

/// Returns the step with its gains; without any where it was not measured beside the variant before.
LadderStep measured(const FastestTiers& tiers, LadderStep step) {
  step.threads = tiers.most_threads(step.step);
  std::vector<CaseRatio> in_all;
  for (const std::string& problem : tiers.problems()) {
    const TrialResult* now = tiers.at(step.step, problem, step.threads);
    const TrialResult* before = tiers.at(step.after, problem, 1);
    const TrialResult* naive = tiers.at("naive", problem, 1);
    if (now == nullptr || before == nullptr) continue;
    const Interval gain = speedup(*before, *now);
    if (gain.middle <= 0) continue;  // they share no launch
    step.ratios.push_back({problem, now->variant, before->variant, gain});
    const Interval over_naive = naive == nullptr ? Interval{} : speedup(*naive, *now);
    if (over_naive.middle > 0) in_all.push_back({problem, now->variant, "naive", over_naive});
  }
  std::ranges::stable_sort(step.ratios, {}, [](const CaseRatio& one) { return one.ratio.middle; });
  if (!step.ratios.empty()) step.mean = geometric_mean(step.ratios);
  if (!in_all.empty()) step.in_all = geometric_mean(in_all);
  return step;
}

}  // namespace

std::vector<LadderStep> ladder(const Results& results) {
  // By operation; a step with several tiers is listed once.
  std::map<std::string, std::vector<LadderStep>> steps;
  for (const VariantStep& one : results.steps) {
    const std::size_t slash = one.variant.find('/');
    LadderStep step{.operation = one.variant.substr(0, slash),
                    .step = std::string(without_tier(one.variant.substr(slash + 1))),
                    .after = one.after};
    auto& known = steps[step.operation];
    if (step.step == "naive") continue;  // where all steps begin
    if (std::ranges::find(known, step.step, &LadderStep::step) == known.end())
      known.push_back(std::move(step));
  }
  std::vector<LadderStep> out;
  for (const auto& one : steps) {
    const std::vector<LadderStep>& known = one.second;
    const FastestTiers tiers(results, one.first);
    // From naive up; a step stands below the variant that it takes further.
    const auto add = [&](const auto& self, const std::string& after) -> void {
      for (const LadderStep& step : known) {
        if (step.after != after) continue;
        if (LadderStep gain = measured(tiers, step); !gain.ratios.empty()) out.push_back(std::move(gain));
        self(self, step.step);
      }
    };
    add(add, "naive");
  }
  return out;
}

}  // namespace assay
