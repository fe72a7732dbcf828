#include "training/epoch/elsewhere.hpp"

#include "core/statistics/statistics.hpp"
#include "training/epoch/loader_queue.hpp"
#include "training/epoch/models.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace assay {
namespace {

double mean_step(const std::vector<StepTimes>& steps) { return mean_of(warmed_up(step_seconds(steps))); }

Index count_for(double longest, double seconds) {
  return std::clamp(static_cast<Index>(seconds / std::max(longest, 1e-9)), Index{3}, Index{1000});
}

/// The slow-down of batches and of the loop by workers that always work: times beside them over times alone.
struct Contention {
  double load = 1, compute = 1;
};

/// Times batches and steps alone and beside these numbers of workers, round by round.
std::map<Index, Contention> contentions(Training& training, const std::set<Index>& numbers,
                                        const PartsPolicy& policy, const Hooks& hooks) {
  std::map<Index, Contention> out;
  if (*numbers.rbegin() == 0) return out;
  const auto start = std::chrono::steady_clock::now();
  const Index steps = count_for(mean_step(training.train_alone(3)), policy.part_seconds);
  const Index batches = count_for(mean_of(warmed_up(training.load_alone(3))), policy.part_seconds);
  std::map<Index, std::vector<double>> loads, computes;
  for (Index round = 0; round < policy.rounds && !hooks.stopped(); ++round) {
    const double done = static_cast<double>(round) / static_cast<double>(policy.rounds);
    pause_until(start, policy.seconds * done, hooks);
    hooks.say("parts: batches and steps alone and together", done);
    const double load = mean_of(warmed_up(training.load_alone(batches)));
    const double step = mean_step(training.train_alone(steps));
    for (const Index workers : numbers) {
      if (workers == 0) continue;
      const Training::Together both = training.together(workers, steps);
      loads[workers].push_back(mean_of(warmed_up(both.load)) / load);
      computes[workers].push_back(mean_step(both.steps) / step);
    }
  }
  // The pace of the machine may change between one part and the next; not in most rounds.
  for (const auto& [workers, ratios] : loads)
    out[workers] = {std::max(1.0, median(ratios)), std::max(1.0, median(computes[workers]))};
  return out;
}

/// The share of its time that a worker spends making batches, for this time of a step without waiting.
double busy_share(Index workers, double load, double step) {
  if (workers == 0) return 0;
  const double made = load / static_cast<double>(workers);
  return made / std::max({made, step, 1e-12});
}

double slower(double contention, double share) { return 1 + (contention - 1) * share; }

/// Whether the only worker sleeps until its batch is taken, so that the loop wakes it for each batch.
bool wakes_for_each_batch(Index workers, Index prefetch) { return workers * prefetch == 1; }

/// Returns the time of a hand-over in a step of the setting, from the time of a hand-over in the calibration.
/// Waking a worker for each batch is no cost of a loop that finds another batch waiting; the rest of a
/// hand-over takes a few microseconds.
double hand_over_at(const LoaderSetting& setting, const TrainingPlan& plan, const Calibration& c) {
  if (setting.workers == 0) return 0;
  const bool wakes = wakes_for_each_batch(setting.workers, setting.prefetch);
  return wakes_for_each_batch(plan.workers, plan.prefetch) && !wakes ? 0 : hand_over(c);
}

}  // namespace

std::vector<LoaderSetting> usual_settings() {
  std::vector<LoaderSetting> out{{0, 1}};
  for (const Index workers : {1, 2})
    for (const Index prefetch : {1, 2, 4}) out.push_back({workers, prefetch});
  return out;
}

std::vector<Elsewhere> elsewhere(Training& training, const TrainingPlan& plan, const Calibration& c,
                                 const std::vector<LoaderSetting>& settings, double beside,
                                 const PartsPolicy& policy, const Hooks& hooks) {
  if (c.load.empty() || c.rest.empty()) return {};
  std::set<Index> workers{plan.workers};
  for (const LoaderSetting& setting : settings) workers.insert(setting.workers);
  training.start_cold(false);
  auto slowed = contentions(training, workers, policy, hooks);
  training.start_cold(plan.cold);
  if (hooks.stopped()) return {};

  const Contention here = slowed[plan.workers];
  const double step_here = mean_of(c.rest), load_here = mean_of(c.load);
  const double step_alone = 1 / slower(here.compute, busy_share(plan.workers, load_here, step_here));
  const double load_alone = 1 / here.load;
  std::vector<Elsewhere> out;
  const StepCount count = count_steps(plan.samples, plan.batch, plan.drop_last);
  const double partial = static_cast<double>(count.partial_samples) / static_cast<double>(plan.batch);
  for (const LoaderSetting& setting : settings) {
    const Contention there = slowed[setting.workers];
    const std::vector<double> load = scaled(c.load, load_alone * there.load);
    const double share = busy_share(setting.workers, mean_of(load), step_alone * step_here);
    const std::vector<double> rest = scaled(c.rest, step_alone * slower(there.compute, share));
    const LoaderQueue queue{
        .workers = setting.workers, .prefetch = setting.prefetch, .in_order = plan.in_order};
    const double played = play_drawn(queue, count.full, load, rest).seconds;
    const double steps = static_cast<double>(count.full);
    const double handed = hand_over_at(setting, plan, c) * steps;
    out.push_back({setting, (played + handed) * (1 + partial / steps) + beside});
  }
  return out;
}

}  // namespace assay
