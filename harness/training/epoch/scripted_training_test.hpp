// A training that a script plays, for tests: no clock is involved.
#pragma once

#include "training/epoch/own_jobs.hpp"

#include <vector>

namespace assay::testing {

/// 100 steps, 9 full batches of validation and one of half the size, checkpoints after 30, 60 and 90 steps.
inline TrainingJob job_by_hand() {
  TrainingJob out{.name = "job"};
  out.plan.samples = 1000;
  out.plan.batch = 10;
  out.plan.validation_samples = 95;
  out.plan.checkpoint_every = 30;
  return out;
}

/// Without pauses.
inline constexpr CalibrationPolicy at_once{.fewest = 60, .runs = 12, .seconds = 0};

/// Steps of 3 ms, of which 1 ms is loading. A batch of validation takes 20 ms, a checkpoint 300 ms; the first
/// of either 80 and 700 ms more when they are timed alone. While pages miss, loading takes 8 ms longer for
/// all of them, and each batch leaves half of the missing ones.
class Scripted final : public Training {
 public:
  explicit Scripted(const TrainingPlan& plan) : cold(plan.cold), plan_(plan) {}
  void load_with(Index, Index, bool) override {}
  void start_cold(bool start) override { cold = start; }
  void drop_pages() override {
    dropped_ = true;
    missing_ = 1;
  }
  double resident() const override { return 1 - missing_; }
  double train(const StepRange& range, std::vector<StepTimes>& times, const std::function<bool()>&) override {
    asked.push_back(range);
    if (cold) drop_pages();
    times.clear();
    double at = 0;
    for (Index i = 0; i < range.steps; ++i, missing_ /= 2) {
      const double wait = 0.001 + (dropped_ ? 0.008 * missing_ : 0);
      times.push_back(
          {.batch = range.first + i, .begin = at, .end = at + wait + 0.002, .wait = wait, .forward = 0.002});
      at = times.back().end;
    }
    dropped_ = false;
    return at;
  }
  EpochTimes train_epoch(const std::function<bool()>& stop) override {
    EpochTimes out{.steps = timed(plan_.steps(), 0.001)};
    double at = out.steps.back().end;
    for (Index i = 0; i < plan_.steps(); ++i) stop();
    for (Index i = 1; i <= plan_.checkpoints(); ++i, at += 0.3) {
      out.checkpoints.push_back({.step = i * plan_.checkpoint_every, .begin = at, .end = at + 0.3});
    }
    for (Index i = 0; i < plan_.validation_steps(); ++i) {
      const double seconds = plan_.validation_size(i) == plan_.batch ? 0.02 : 0.01;
      out.validation.push_back({.begin = at, .end = at + seconds, .forward = seconds});
      at += seconds;
      if (stop()) break;
    }
    out.seconds = at;
    return out;
  }
  std::vector<double> load_alone(Index batches) override {
    return std::vector<double>(static_cast<std::size_t>(batches), 0.001);
  }
  std::vector<StepTimes> train_alone(Index steps) override { return timed(steps, 0); }
  std::vector<ValidationTimes> validate_alone(Index batches) override {
    asked_batches.push_back(batches);
    std::vector<ValidationTimes> out;
    for (Index i = 0; i < batches; ++i) out.push_back({.end = i == 0 ? 0.1 : 0.02});
    return out;
  }
  std::vector<double> checkpoint_alone(Index count) override {
    asked_checkpoints.push_back(count);
    std::vector<double> out(static_cast<std::size_t>(count), 0.3);
    out.front() = 1;
    return out;
  }
  /// Beside workers that always work, batches take half as long again and steps twice as long.
  Together together(Index, Index steps) override {
    std::vector<StepTimes> times = timed(steps, 0);
    for (StepTimes& step : times) {
      step.begin *= 2;
      step.end *= 2;
    }
    return {{0.0015}, times};
  }

  std::vector<StepRange> asked;
  std::vector<Index> asked_batches, asked_checkpoints;
  bool cold = false;

 private:
  static std::vector<StepTimes> timed(Index steps, double wait) {
    std::vector<StepTimes> out;
    for (Index i = 0; i < steps; ++i) {
      const double begin = static_cast<double>(i) * (wait + 0.002);
      out.push_back(
          {.batch = i, .begin = begin, .end = begin + wait + 0.002, .wait = wait, .forward = 0.002});
    }
    return out;
  }
  TrainingPlan plan_;
  bool dropped_ = false;  ///< since the last run
  double missing_ = 0;
};

}  // namespace assay::testing
