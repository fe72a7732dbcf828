#include "training/tune/settings.hpp"

#include "assay/error.hpp"
#include "core/machine/limits.hpp"
#include "core/statistics/statistics.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace assay {
namespace {

/// Runs long enough to be told from their start.
constexpr Index fewest_steps = 12;

/// Makes the kernel forget the peak of resident memory, and the heap return the memory that other settings
/// freed.
void forget_peak() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  std::ofstream("/proc/self/clear_refs") << 5;
}

auto identity_of(const TrainingPlan& plan) {
  const bool queue = plan.workers > 0;
  return std::tuple{plan.workers, queue ? plan.prefetch : 0, queue ? plan.in_order : true, plan.batch,
                    plan.threads};
}

std::string hypothesis_of(const TrainingPlan& plan, const TrainingPlan& job) {
  if (plan.batch != job.batch)
    return "another batch spreads what a step costs by itself over other numbers of samples";
  if (plan.threads != job.threads) return "the step's own threads share it, and cores with the workers";
  if (plan.workers == 0) return "loading costs less than handing batches over";
  if (plan.workers != job.workers) return "workers hide loading behind the step, unless they take its cores";
  if (plan.in_order != job.in_order) return "a slow batch no longer holds up those that are ready";
  return "more batches ahead bridge slow ones, fewer take less memory";
}

/// Says in few words how the setting differs from the job.
std::string setting_of(const TrainingPlan& plan, const TrainingPlan& job) {
  std::string out = fmt::format("workers {}", plan.workers);
  if (plan.workers > 0)
    out += fmt::format(", prefetch {}{}", plan.prefetch, plan.in_order ? "" : ", any order");
  if (plan.batch != job.batch) out += fmt::format(", batch {}", plan.batch);
  if (plan.threads != job.threads) out += fmt::format(", {} threads", plan.threads);
  return out;
}

/// Settings with equal batch and threads are one training, whose loading is set run by run; the others differ
/// in buffers.
using TrainingKey = std::pair<Index, int>;
TrainingKey training_of(const TrainingPlan& plan) { return {plan.batch, plan.threads}; }

double per_sample(const std::vector<StepTimes>& steps, const TrainingPlan& plan, std::size_t from) {
  const double begin = steps[from].begin, end = steps.back().end;
  const auto count = static_cast<double>(steps.size() - from);
  return (end - begin) / (count * static_cast<double>(plan.batch));
}

class SettingTurns {
 public:
  SettingTurns(const std::vector<TrainingPlan>& plans, std::vector<Candidate>& candidates, double run_seconds,
               const Hooks& hooks)
      : plans_(plans), candidates_(candidates), run_seconds_(run_seconds), hooks_(hooks) {}

  Turn take(std::size_t at) {
    const TrainingPlan &plan = plans_[at], &job = plans_.front();
    Candidate& candidate = candidates_[at];
    hooks_.say(candidate.name);
    const bool same = training_of(plan) == training_of(job);
    const double control = same ? 0 : alone(job), own = alone(plan);
    Training& training = training_with(plan);
    forget_peak();
    std::vector<StepTimes> steps;
    training.train({.steps = steps_for(plan, step_guess_[training_of(plan)])}, steps, hooks_.stop);
    if (hooks_.stopped()) return {};
    // 0 where the kernel does not say.
    const double peak = bytes_in(try_read("/proc/self/status").value_or(""), "VmHWM");
    candidate.peak_bytes = std::max(candidate.peak_bytes, peak);
    if (candidate.wrong.empty()) candidate.wrong = fault_of(plan, steps);
    const auto filled = static_cast<std::size_t>(plan.workers * plan.prefetch + 1);
    const std::size_t from = filled < steps.size() / 2 ? filled : 0;
    return {.seconds = {{per_sample(steps, plan, from)}}, .control = {{same ? own : control}}, .bound = own};
  }

 private:
  Training& training_with(const TrainingPlan& plan) {
    auto& made = trainings_[training_of(plan)];
    if (made == nullptr) made = TrainingMaker::made(plan);
    made->load_with(plan.workers, plan.prefetch, plan.in_order);
    return *made;
  }

  /// Full batches only: a partial one would count as a whole.
  Index steps_for(const TrainingPlan& plan, double step) const {
    const Index full = plan.samples / plan.batch;
    const Index filled = plan.workers * plan.prefetch + 1;
    const auto wanted = static_cast<Index>(run_seconds_ / std::max(step, 1e-9));
    return std::min(full, std::max({wanted, fewest_steps, 3 * filled}));
  }

  /// Seconds per sample of steps without loading.
  double alone(const TrainingPlan& plan) {
    double& guess = step_guess_[training_of(plan)];
    const Index probe = guess > 0 ? steps_for(plan, 4 * guess) : 3;
    const std::vector<StepTimes> steps = training_with(plan).train_alone(probe);
    guess = (steps.back().end - steps.front().begin) / static_cast<double>(steps.size());
    return per_sample(steps, plan, steps.size() > 2 ? 1 : 0);
  }

  /// The same batches in the same order are the same training, to the last bit; in another order each batch
  /// is trained once all the same.
  std::string fault_of(const TrainingPlan& plan, const std::vector<StepTimes>& steps) {
    std::set<Index> batches;
    for (const StepTimes& step : steps) {
      if (!std::isfinite(step.mean_loss))
        return fmt::format("the loss of batch {} is not finite", step.batch);
      if (!batches.insert(step.batch).second) return fmt::format("batch {} was trained twice", step.batch);
    }
    if (!plan.in_order && plan.workers > 0) return "";
    std::vector<float>& expected = losses_[training_of(plan)];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i == expected.size()) {
        expected.push_back(steps[i].mean_loss);
      } else if (expected[i] != steps[i].mean_loss) {
        return fmt::format("the loss of step {} is {}, and was {} with other workers", i, steps[i].mean_loss,
                           expected[i]);
      }
    }
    return "";
  }

  const std::vector<TrainingPlan>& plans_;
  std::vector<Candidate>& candidates_;
  double run_seconds_;
  const Hooks& hooks_;
  std::map<TrainingKey, std::unique_ptr<Training>> trainings_;
  std::map<TrainingKey, double> step_guess_;  ///< seconds
  std::map<TrainingKey, std::vector<float>> losses_;
};

}  // namespace

std::vector<TrainingPlan> plans_of(const TrainingPlan& job, const TuneGrid& grid) {
  for (const Index batch : grid.batch) {
    if (batch >= 1 && batch <= job.samples / 2) continue;
    throw Error("--batch", fmt::format("{} is no size for {} samples", batch, job.samples),
                "name sizes from 1 to half the samples");
  }
  std::vector<TrainingPlan> all{job};
  const auto multiply_by = [&](auto field, const auto& values) {
    std::vector<TrainingPlan> out;
    for (const TrainingPlan& plan : all) {
      for (const auto value : values) out.emplace_back(plan).*field = value;
    }
    if (!values.empty()) all = std::move(out);
  };
  multiply_by(&TrainingPlan::batch, grid.batch);
  multiply_by(&TrainingPlan::threads, grid.threads);
  multiply_by(&TrainingPlan::workers, grid.workers);
  multiply_by(&TrainingPlan::prefetch, grid.prefetch);
  if (grid.any_order) multiply_by(&TrainingPlan::in_order, std::array{true, false});
  std::vector<TrainingPlan> out{job};
  std::set known{identity_of(job)};
  for (const TrainingPlan& plan : all) {
    if (known.insert(identity_of(plan)).second) out.push_back(plan);
  }
  return out;
}

std::vector<Candidate> candidates_of(const std::vector<TrainingPlan>& plans) {
  const TrainingPlan& job = plans.front();
  std::vector<Candidate> out;
  for (const TrainingPlan& plan : plans) {
    std::vector<double> price;
    for (const auto part :
         {plan.workers, plan.workers * plan.prefetch, Index{!plan.in_order}, Index{plan.threads}, plan.batch})
      price.push_back(static_cast<double>(part));
    out.push_back({.name = setting_of(plan, job),
                   .hypothesis = out.empty() ? "the job as it is" : hypothesis_of(plan, job),
                   .price = std::move(price)});
  }
  return out;
}

void measure_settings(const std::vector<TrainingPlan>& plans, std::vector<Candidate>& candidates,
                      const TunePolicy& policy, const Hooks& hooks) {
  SettingTurns turns(plans, candidates, policy.run_seconds, hooks);
  measure_rounds(candidates, {.rounds = policy.rounds, .seed = policy.seed},
                 one_by_one([&](std::size_t at) { return turns.take(at); }, hooks), hooks);
}

std::vector<std::string> consequences_of(const std::vector<TrainingPlan>& plans, const TuneRuling& ruling) {
  const Candidate &before = ruling.candidates.front(), &after = ruling.candidates[ruling.chosen];
  const auto samples = static_cast<double>(plans.front().samples);
  std::vector<double> alone;
  for (const Turn& turn : before.turns) alone.push_back(turn.bound);
  const double bound = median(alone), best = ruling.candidates[ruling.best].seconds;
  return {
      fmt::format(
          "An epoch of {} samples takes {} of steady steps instead of {}. Memory of the process at its "
          "peak, the data that all settings share included: {} instead of {}.",
          count_text(samples), seconds_text(samples * after.seconds), seconds_text(samples * before.seconds),
          bytes_text(after.peak_bytes), bytes_text(before.peak_bytes)),
      // A best setting below the bound is luck.
      fmt::format(
          "A step without any loading takes {} per sample ({} samples/s): no setting of the loader can "
          "be faster. The best setting takes {}. Up to {} more can be reached by loading that costs "
          "nothing; more than that only by a faster step.",
          seconds_text(bound), count_text(1 / bound), seconds_text(best),
          percent_text(std::max(0.0, best / bound - 1)))};
}

}  // namespace assay
