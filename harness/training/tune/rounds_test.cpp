// Tests the settings that are tried, and rounds over a training that a script plays.
#include "training/tune/settings.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

TrainingPlan plan() {
  TrainingPlan out;
  out.samples = 1000;
  out.batch = 10;
  out.workers = 1;
  out.prefetch = 2;
  return out;
}

TEST(Settings, AreTheJobAsItIsAndEachOtherOnce) {
  const auto plans = plans_of(plan(), {.workers = {0, 1, 2}, .prefetch = {1, 2}});
  const auto candidates = candidates_of(plans);
  // Without workers there is nothing to prefetch: 1 + 2 + 2, the job among them.
  ASSERT_EQ(plans.size(), 5U);
  EXPECT_EQ(plans[0].workers, 1);
  EXPECT_EQ(plans[0].prefetch, 2);
  EXPECT_EQ(plans[1].workers, 0);
  for (std::size_t i = 1; i < candidates.size(); ++i) EXPECT_NE(candidates[i].hypothesis, "") << i;
}

TEST(Settings, OutOfOrderAreTriedWhenAskedFor) {
  EXPECT_EQ(plans_of(plan(), {.workers = {0, 1}, .any_order = true}).size(), 3U);
}

TEST(Settings, RefuseABatchThatLeavesNoTwoSteps) {
  try {
    plans_of(plan(), {.batch = {501}});
    FAIL();
  } catch (const Error& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("--batch"));
  }
}

/// Steps of 10 us; each batch waits 10 us without workers. With two workers batches come twice.
class Scripted final : public Training {
 public:
  void load_with(Index workers, Index, bool) override { workers_ = workers; }
  void start_cold(bool) override {}
  void drop_pages() override {}
  double resident() const override { return 1; }
  double train(const StepRange& range, std::vector<StepTimes>& times, const std::function<bool()>&) override {
    times = timed(range.steps, workers_ == 0 ? 1e-5 : 0);
    if (workers_ == 2) times.back().batch = 0;
    return times.back().end;
  }
  std::vector<double> load_alone(Index batches) override {
    return std::vector<double>(static_cast<std::size_t>(batches), 1e-5);
  }
  std::vector<StepTimes> train_alone(Index steps) override { return timed(steps, 0); }
  EpochTimes train_epoch(const std::function<bool()>&) override { return {}; }
  std::vector<ValidationTimes> validate_alone(Index) override { return {}; }
  std::vector<double> checkpoint_alone(Index) override { return {}; }
  Together together(Index, Index steps) override { return {{1e-5}, timed(steps, 0)}; }

 private:
  static std::vector<StepTimes> timed(Index steps, double wait) {
    std::vector<StepTimes> out;
    for (Index i = 0; i < steps; ++i) {
      const double begin = static_cast<double>(i) * (1e-5 + wait);
      out.push_back({.batch = i, .begin = begin, .end = begin + wait + 1e-5, .wait = wait, .forward = 1e-5});
    }
    return out;
  }
  Index workers_ = 0;
};

TEST(Rounds, MeasureEachSettingAndRejectWhatTrainsABatchTwice) {
  const TrainingMaker maker(
      [](const TrainingPlan&) -> std::unique_ptr<Training> { return std::make_unique<Scripted>(); });
  const auto plans = plans_of(plan(), {.workers = {0, 2}});
  auto candidates = candidates_of(plans);
  measure_settings(plans, candidates, {.rounds = 6, .seed = 1, .run_seconds = 1e-3}, {});
  const TuneRuling ruling = ruled(setting_words, candidates);
  EXPECT_NEAR(ruling.candidates[0].seconds, 1e-6, 1e-9) << "a step of 10 us has 10 samples";
  EXPECT_EQ(ruling.candidates[1].decision, Decision::reject);
  EXPECT_NEAR(ruling.candidates[1].ratio.middle, 2, 1e-3);
  EXPECT_EQ(ruling.candidates[2].decision, Decision::wrong);
  EXPECT_THAT(ruling.candidates[2].why, HasSubstr("batch 0 was trained twice"));
  EXPECT_EQ(ruling.chosen, 0U);
}

}  // namespace
}  // namespace assay
