#include "epoch/elsewhere.hpp"

#include "epoch/loader_queue.hpp"
#include "epoch/models.hpp"

#include <algorithm>
#include <map>

namespace assay {
namespace {

struct Parts {
  std::vector<double> load, step;
};

std::vector<double> whole_steps(const std::vector<StepTimes>& steps) {
  std::vector<double> out;
  for (const StepTimes& step : steps) out.push_back(step.end - step.begin);
  return out;
}

Index count_for(const std::vector<double>& some, double seconds) {
  double longest = 1e-9;
  for (const double one : some) longest = std::max(longest, one);
  return std::clamp(static_cast<Index>(seconds / longest), Index{5}, Index{2000});
}

Parts parts_of(Training& training, Index workers, double seconds) {
  const std::vector<double> first = whole_steps(training.train_alone(3));
  const Index steps = count_for(first, seconds);
  if (workers == 0) {
    const std::vector<double> loads = training.load_alone(3);
    return {training.load_alone(count_for(loads, seconds)), whole_steps(training.train_alone(steps))};
  }
  Training::Together both = training.together(workers, steps);
  // A worker that never got a core in that time would leave nothing to draw from.
  if (both.load.empty()) both.load = training.load_alone(3);
  return {std::move(both.load), whole_steps(both.steps)};
}

}  // namespace

std::vector<LoaderSetting> usual_settings() {
  std::vector<LoaderSetting> out{{0, 1}};
  for (const Index workers : {1, 2})
    for (const Index prefetch : {1, 2, 4}) out.push_back({workers, prefetch});
  return out;
}

std::vector<Elsewhere> elsewhere(Training& training, const TrainingPlan& plan,
                                 const std::vector<LoaderSetting>& settings, double seconds, double beside,
                                 const Hooks& hooks) {
  std::map<Index, Parts> parts;
  std::vector<Elsewhere> out;
  const double steps = static_cast<double>(plan.samples) / static_cast<double>(plan.batch);
  for (const LoaderSetting& setting : settings) {
    auto found = parts.find(setting.workers);
    if (found == parts.end()) {
      hooks.say("batches and steps beside " + std::to_string(setting.workers) + " workers");
      found = parts.emplace(setting.workers, parts_of(training, setting.workers, seconds)).first;
    }
    const LoaderQueue queue{
        .workers = setting.workers, .prefetch = setting.prefetch, .in_order = plan.in_order};
    const Index full = plan.samples / plan.batch;
    const double played =
        play(queue, full, Times(found->second.load, queue_seed), Times(found->second.step, queue_seed + 1))
            .seconds;
    const double partial = plan.drop_last ? 0 : steps - static_cast<double>(full);
    out.push_back({setting, played * (1 + partial / static_cast<double>(full)) + beside});
  }
  return out;
}

}  // namespace assay
