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
  out.dataset = {.train = plan.samples,
                 .validation = plan.validation_samples,
                 .batch = plan.batch,
                 .drop_last = plan.drop_last,
                 .checkpoint_every = plan.checkpoint_every};
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

/// What is beside the steps, one by one. Nothing where there was none of it.
void add_beside(Job& job, Scope scope, PhaseKind kind, const std::vector<double>& seconds) {
  if (seconds.empty()) return;
  job.phases.push_back({.name = std::string(to_string(scope)),
                        .kind = kind,
                        .scope = scope,
                        .mean_seconds = mean(seconds),
                        .samples = static_cast<Index>(seconds.size()),
                        .seconds = seconds});
}

/// Of full batches; of a single one that is smaller, what a full one would take.
std::vector<double> full_batches(const TrainingPlan& plan, const std::vector<ValidationTimes>& batches) {
  std::vector<double> out;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const Index size = plan.validation_size(static_cast<Index>(i));
    const double seconds = batches[i].end - batches[i].begin;
    if (size == plan.batch) out.push_back(seconds);
    if (size < plan.batch && batches.size() == 1) {
      out.push_back(seconds * static_cast<double>(plan.batch) / static_cast<double>(size));
    }
  }
  return out;
}

/// Without the first, unless it is the only one.
std::vector<double> warmed_up(std::vector<double> seconds) {
  if (seconds.size() > 1) seconds.erase(seconds.begin());
  return seconds;
}

void time_beside(Job& job, Training& training, const TrainingPlan& plan, const CalibrationPolicy& policy,
                 const Hooks& hooks) {
  if (const Index all = plan.validation_steps(); all > 0 && !hooks.stopped()) {
    const auto share = static_cast<Index>(policy.share * static_cast<double>(all));
    const Index batches = std::min(all, std::max(policy.fewest_batches, share));
    hooks.say(fmt::format("calibration: {} batches of validation", batches));
    add_beside(job, Scope::validation, PhaseKind::compute,
               warmed_up(full_batches(plan, training.validate_alone(batches))));
  }
  if (const Index all = plan.checkpoints(); all > 0 && !hooks.stopped()) {
    hooks.say("calibration: checkpoints");
    add_beside(job, Scope::checkpoint, PhaseKind::other,
               warmed_up(training.checkpoint_alone(std::min(policy.checkpoints, all + 1))));
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
  time_beside(out, training, job.plan, policy, hooks);
  return out;
}

EpochRun run_epoch(Training& training, const TrainingPlan& plan,
                   const std::function<void(Index, double)>& after_step, const Hooks& hooks) {
  const WeatherStation station;
  const auto start = Clock::now();
  Index done = 0;
  EpochRun out;
  out.times = training.train_epoch([&] {
    // Asked in validation as well, when all steps are done.
    if (done < plan.steps()) {
      after_step(++done, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return hooks.stopped();
  });
  out.partial = std::ssize(out.times.steps) < plan.steps() ||
                std::ssize(out.times.validation) < plan.validation_steps();
  out.weather = station.since();
  return out;
}

Job measured_job(const TrainingJob& job, const EpochRun& run) {
  Job out = described(job);
  const EpochTimes& times = run.times;
  add_window(out, job.plan, times.steps,
             times.seconds - times.checkpoint_seconds() - times.validation_seconds(), 0);
  add_phases(out, times.steps);
  add_beside(out, Scope::validation, PhaseKind::compute, full_batches(job.plan, times.validation));
  std::vector<double> checkpoints;
  for (const CheckpointTimes& one : times.checkpoints) checkpoints.push_back(one.end - one.begin);
  add_beside(out, Scope::checkpoint, PhaseKind::other, checkpoints);
  out.epoch_seconds = times.seconds;
  return out;
}

}  // namespace assay
