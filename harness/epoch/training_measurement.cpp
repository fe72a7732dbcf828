#include "epoch/training_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

using OfStep = double (*)(const StepTimes&);

std::vector<double> each(const std::vector<StepTimes>& steps, OfStep of) {
  std::vector<double> out;
  for (const StepTimes& step : steps) out.push_back(of(step));
  return out;
}

double whole(const StepTimes& step) { return step.end - step.begin; }
double computed(const StepTimes& step) { return step.computed(); }

/// So many that they take about `seconds`.
Index count_for(double one, double seconds) {
  return std::clamp(static_cast<Index>(seconds / std::max(one, 1e-9)), Index{3}, Index{1000});
}

struct PhaseOf {
  const char* name;
  PhaseKind kind;
  OfStep of;
};
/// In the order in which they happen; they sum to the step.
constexpr PhaseOf phases[] = {
    {"wait", PhaseKind::load, [](const StepTimes& s) { return s.wait; }},
    {"forward", PhaseKind::compute, [](const StepTimes& s) { return s.forward; }},
    {"loss", PhaseKind::compute, [](const StepTimes& s) { return s.loss; }},
    {"backward", PhaseKind::compute, [](const StepTimes& s) { return s.backward; }},
    {"clip", PhaseKind::compute, [](const StepTimes& s) { return s.clip; }},
    {"optimizer", PhaseKind::compute, [](const StepTimes& s) { return s.optimize; }},
    {"other", PhaseKind::other, [](const StepTimes& s) { return s.other(); }}};

Job described(const TrainingJob& job) {
  const TrainingPlan& plan = job.plan;
  Job out{.name = job.name, .source = "this program"};
  out.dataset = {.train = plan.samples, .batch = plan.batch, .drop_last = plan.drop_last};
  out.loader = {
      .workers = plan.workers, .prefetch = plan.prefetch, .prefetch_stated = true, .in_order = plan.in_order};
  // Batches and steps are timed while both run.
  if (plan.workers > 0) out.loader.load_contention = out.loader.compute_contention = 1;
  return out;
}

void add_window(Job& job, const TrainingPlan& plan, const std::vector<StepTimes>& steps, double seconds,
                int run) {
  job.windows.push_back({.first_step = 0,
                         .steps = static_cast<Index>(steps.size()),
                         .wall_seconds = seconds,
                         .cache = plan.cold ? PageCache::cold : PageCache::warm,
                         .run = run,
                         .step_seconds = each(steps, whole)});
}

void add_phases(Job& job, const std::vector<StepTimes>& steps) {
  const auto add = [&](const char* name, PhaseKind kind, bool overlaps, std::vector<double> seconds) {
    job.phases.push_back({.name = name,
                          .kind = kind,
                          .overlaps = overlaps,
                          .mean_seconds = mean(seconds),
                          .samples = static_cast<Index>(seconds.size()),
                          .seconds = std::move(seconds)});
  };
  for (const PhaseOf& phase : phases) add(phase.name, phase.kind, false, each(steps, phase.of));
  if (job.loader.workers.value_or(0) > 0) {
    add("load", PhaseKind::load, true, each(steps, [](const StepTimes& s) { return s.load; }));
  }
}

/// Steps of the three runs: 1, 2 and 4 sevenths of what may be trained.
std::vector<Index> run_lengths(const TrainingPlan& plan, const CalibrationPolicy& policy) {
  const auto share = static_cast<Index>(policy.share * static_cast<double>(plan.steps()));
  const Index all = std::max(policy.fewest, share);
  std::vector<Index> out;
  for (const Index part : {1, 2, 4}) out.push_back(std::clamp(all * part / 7, Index{1}, plan.steps()));
  return out;
}

}  // namespace

PartTimes time_parts(Training& training, const TrainingPlan& plan, double seconds, const Hooks& hooks) {
  PartTimes out;
  hooks.say("batches alone");
  out.load_alone = mean(training.load_alone(count_for(mean(training.load_alone(2)), seconds)));
  hooks.say("steps alone");
  const Index steps = count_for(mean(each(training.train_alone(2), whole)), seconds);
  out.step_alone = mean(each(training.train_alone(steps), computed));
  if (plan.workers == 0) return out;
  hooks.say("batches and steps together");
  const Training::Together both = training.together(plan.workers, steps);
  out.load_together = mean(both.load);
  out.step_together = mean(each(both.steps, computed));
  return out;
}

Index calibration_steps(const TrainingPlan& plan, const CalibrationPolicy& policy) {
  const auto lengths = run_lengths(plan, policy);
  return std::accumulate(lengths.begin(), lengths.end(), Index{0});
}

Job calibration_of(Training& training, const TrainingJob& job, const CalibrationPolicy& policy,
                   const Hooks& hooks) {
  Job out = described(job);
  std::vector<StepTimes> all;
  int run = 0;
  for (const Index steps : run_lengths(job.plan, policy)) {
    hooks.say(fmt::format("calibration: {} steps", steps));
    std::vector<StepTimes> times;
    const double seconds = training.train(steps, times, hooks.stop);
    if (hooks.stopped()) break;
    add_window(out, job.plan, times, seconds, run++);
    all.insert(all.end(), times.begin(), times.end());
  }
  add_phases(out, all);
  return out;
}

EpochRun run_epoch(Training& training, const TrainingPlan& plan,
                   const std::function<void(Index, double)>& after_step, const Hooks& hooks) {
  const WeatherStation station;
  const auto start = Clock::now();
  Index done = 0;
  EpochRun out;
  out.seconds = training.train(plan.steps(), out.steps, [&] {
    after_step(++done, std::chrono::duration<double>(Clock::now() - start).count());
    return hooks.stopped();
  });
  out.partial = static_cast<Index>(out.steps.size()) < plan.steps();
  out.weather = station.since();
  return out;
}

Job measured_job(const TrainingJob& job, const EpochRun& run) {
  Job out = described(job);
  add_window(out, job.plan, run.steps, run.seconds, 0);
  add_phases(out, run.steps);
  out.epoch_seconds = run.seconds;
  return out;
}

}  // namespace assay
