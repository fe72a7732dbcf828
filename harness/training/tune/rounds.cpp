#include "training/tune/rounds.hpp"

#include "assay/error.hpp"
#include "assay/random.hpp"
#include "core/text/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace assay {
namespace {

/// Runs long enough to be told from their start.
constexpr Index fewest_steps = 12;

/// The kernel forgets the peak of memory that was resident, and the heap gives back what other settings
/// freed.
void forget_peak() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  std::ofstream("/proc/self/clear_refs") << 5;
}

/// Bytes; 0 where the kernel does not say.
double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return 1024 * std::stod(line.substr(6));
  }
  return 0;
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

template <class T>
std::vector<T> or_own(const std::vector<T>& list, T own) {
  return list.empty() ? std::vector<T>{own} : list;
}

/// Settings with equal batch and threads are one training, whose loading is set run by run; the others differ
/// in buffers.
using TrainingKey = std::pair<Index, int>;
TrainingKey training_of(const TrainingPlan& plan) { return {plan.batch, plan.threads}; }

class Trainings {
 public:
  Training& of(const TrainingPlan& plan) {
    auto& slot = made_[training_of(plan)];
    if (slot == nullptr) slot = TrainingMaker::made(plan);
    slot->load_with(plan.workers, plan.prefetch, plan.in_order);
    return *slot;
  }

 private:
  std::map<TrainingKey, std::unique_ptr<Training>> made_;
};

double per_sample(const std::vector<StepTimes>& steps, const TrainingPlan& plan, std::size_t from) {
  const double begin = steps[from].begin, end = steps.back().end;
  const auto count = static_cast<double>(steps.size() - from);
  return (end - begin) / (count * static_cast<double>(plan.batch));
}

class Rounds {
 public:
  Rounds(std::vector<Attempt>& attempts, const TunePolicy& policy, std::uint64_t seed)
      : attempts_(attempts), policy_(policy), rng_(seed) {}

  void measure(const Hooks& hooks) {
    double tries = 0;
    const double all_tries = static_cast<double>(attempts_.size()) * policy_.rounds;
    for (int round = 0; round < policy_.rounds; ++round) {
      std::vector<RoundTimes> times(attempts_.size());
      for (const std::size_t i : drawn_order()) {
        hooks.say(fmt::format("round {} of {}: {}", round + 1, policy_.rounds, in_words(attempts_[i].plan)),
                  tries++ / all_tries);
        times[i] = tried(attempts_[i], hooks);
        if (hooks.stopped()) return;
      }
      for (std::size_t i = 0; i < attempts_.size(); ++i) attempts_[i].rounds.push_back(times[i]);
    }
  }

 private:
  std::vector<std::size_t> drawn_order() {
    std::vector<std::size_t> out(attempts_.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = i;
    for (std::size_t i = out.size(); i > 1; --i)
      std::swap(out[i - 1], out[static_cast<std::size_t>(rng_.integer(0, static_cast<Index>(i) - 1))]);
    return out;
  }

  /// Full batches only: a partial one would count as a whole.
  Index steps_for(const TrainingPlan& plan, double step) const {
    const Index full = plan.samples / plan.batch;
    const Index filled = plan.workers * plan.prefetch + 1;
    const auto wanted = static_cast<Index>(policy_.run_seconds / std::max(step, 1e-9));
    return std::min(full, std::max({wanted, fewest_steps, 3 * filled}));
  }

  /// Seconds per sample of steps without loading.
  double alone(const TrainingPlan& plan) {
    double& guess = step_guess_[training_of(plan)];
    const Index probe = guess > 0 ? steps_for(plan, 4 * guess) : 3;
    const std::vector<StepTimes> steps = trainings_.of(plan).train_alone(probe);
    guess = (steps.back().end - steps.front().begin) / static_cast<double>(steps.size());
    return per_sample(steps, plan, steps.size() > 2 ? 1 : 0);
  }

  RoundTimes tried(Attempt& attempt, const Hooks& hooks) {
    const TrainingPlan &plan = attempt.plan, &job = attempts_.front().plan;
    const bool same = training_of(plan) == training_of(job);
    const double control = same ? 0 : alone(job), own = alone(plan);
    Training& training = trainings_.of(plan);
    forget_peak();
    std::vector<StepTimes> steps;
    training.train({.steps = steps_for(plan, step_guess_[training_of(plan)])}, steps, hooks.stop);
    if (hooks.stopped()) return {};
    attempt.peak_bytes = std::max(attempt.peak_bytes, peak_bytes());
    judge(attempt, steps);
    const auto filled = static_cast<std::size_t>(plan.workers * plan.prefetch + 1);
    const std::size_t from = filled < steps.size() / 2 ? filled : 0;
    return {.seconds = per_sample(steps, plan, from), .alone = own, .control = same ? own : control};
  }

  /// The same batches in the same order are the same training, to the last bit; in another order each batch
  /// is trained once all the same.
  void judge(Attempt& attempt, const std::vector<StepTimes>& steps) {
    if (!attempt.wrong.empty()) return;
    std::set<Index> batches;
    for (const StepTimes& step : steps) {
      if (!std::isfinite(step.mean_loss))
        attempt.wrong = fmt::format("the loss of batch {} is not finite", step.batch);
      if (!batches.insert(step.batch).second)
        attempt.wrong = fmt::format("batch {} was trained twice", step.batch);
    }
    if (!attempt.plan.in_order && attempt.plan.workers > 0) return;
    std::vector<float>& expected = losses_[training_of(attempt.plan)];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i == expected.size()) {
        expected.push_back(steps[i].mean_loss);
      } else if (expected[i] != steps[i].mean_loss) {
        attempt.wrong = fmt::format("the loss of step {} is {}, and was {} with other workers", i,
                                    steps[i].mean_loss, expected[i]);
        return;
      }
    }
  }

  std::vector<Attempt>& attempts_;
  const TunePolicy& policy_;
  Rng rng_;
  Trainings trainings_;
  std::map<TrainingKey, double> step_guess_;  ///< seconds
  std::map<TrainingKey, std::vector<float>> losses_;
};

}  // namespace

std::vector<Attempt> attempts_of(const TrainingPlan& job, const TuneGrid& grid) {
  std::vector<Attempt> out{{.plan = job, .hypothesis = "the job as it is"}};
  std::set known{identity_of(job)};
  for (const Index batch : or_own(grid.batch, job.batch)) {
    if (batch < 1 || batch > job.samples / 2) {
      throw Error("--batch", fmt::format("{} is no size for {} samples", batch, job.samples),
                  "name sizes from 1 to half the samples");
    }
    for (const int threads : or_own(grid.threads, job.threads)) {
      for (const Index workers : or_own(grid.workers, job.workers)) {
        for (const Index prefetch : or_own(grid.prefetch, job.prefetch)) {
          for (const bool in_order : grid.any_order ? std::vector{true, false} : std::vector{job.in_order}) {
            TrainingPlan plan = job;
            plan.batch = batch;
            plan.threads = threads;
            plan.workers = workers;
            plan.prefetch = prefetch;
            plan.in_order = in_order;
            if (!known.insert(identity_of(plan)).second) continue;
            out.push_back({.plan = plan, .hypothesis = hypothesis_of(plan, job)});
          }
        }
      }
    }
  }
  return out;
}

void measure_rounds(std::vector<Attempt>& attempts, const TunePolicy& policy, std::uint64_t seed,
                    const Hooks& hooks) {
  Rounds(attempts, policy, seed).measure(hooks);
}

}  // namespace assay
