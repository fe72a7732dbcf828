#include "training/epoch/forecast.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// Ten steps of 0.1 s without workers: 0.04 s of loading, 0.05 of forward, 0.01 of copies; 1,005 samples in
/// batches of 100.
Job by_hand() {
  const auto phase = [](const char* name, PhaseKind kind, double seconds) {
    return StepPhase{.name = name,
                     .kind = kind,
                     .mean_seconds = seconds,
                     .samples = 10,
                     .seconds = std::vector<double>(10, seconds)};
  };
  return {.name = "job",
          .dataset = {.train = 1005, .batch = 100},
          .loader = {.workers = 0},
          .windows = {{.first_step = 20,
                       .steps = 10,
                       .wall_seconds = 1,
                       .step_seconds = std::vector<double>(10, 0.1)}},
          .phases = {phase("load", PhaseKind::load, 0.04), phase("forward", PhaseKind::compute, 0.05),
                     phase("copy", PhaseKind::copy, 0.01)},
          .source = "job.json"};
}

WhatIf what_if_row(const Forecast& f, const std::string& change) {
  for (const WhatIf& one : f.what_if) {
    if (one.change == change) return one;
  }
  ADD_FAILURE() << "no row " << change;
  return {};
}

double what_if_seconds(const Forecast& f, const std::string& change) {
  return what_if_row(f, change).seconds.value_or(0);
}

// Ten steps of 0.1 s and one of 5 / 100 of that.
TEST(Forecast, KeepsOrDropsTheLastBatch) {
  Job job = by_hand();
  Forecast kept = forecast(job);
  EXPECT_EQ(kept.steps.full, 10);
  EXPECT_EQ(kept.steps.partial_samples, 5);
  for (const Model model : {Model::mean, Model::queue}) {
    EXPECT_NEAR(kept.models[static_cast<std::size_t>(model)].seconds.middle, 1.005, 1e-9);
  }
  job.dataset.drop_last = true;
  EXPECT_NEAR(forecast(job).models[0].seconds.middle, 1.0, 1e-9);
}

// Two full batches of validation and one of half, 0.02 s each.
TEST(Forecast, CountsValidationApart) {
  Job job = by_hand();
  job.dataset.validation = 250;
  EXPECT_THAT(forecast(job).left_out, Contains(HasSubstr("validation of 250 samples")));
  job.phases.push_back(
      {.name = "evaluate", .kind = PhaseKind::compute, .scope = Scope::validation, .mean_seconds = 0.02});
  const Forecast f = forecast(job);
  EXPECT_NEAR(f.segments.at(0).seconds.middle, 0.05, 1e-12);
  EXPECT_NEAR(f.models[0].seconds.middle, 1.055, 1e-9);
  EXPECT_THAT(f.left_out, Not(Contains(HasSubstr("validation"))));
}

// 11 steps, the last of them small: checkpoints after the 4th and the 8th, 0.03 s each. With batches of 200
// there are six, and one after the 4th.
TEST(Forecast, CountsCheckpointsApart) {
  Job job = by_hand();
  job.dataset.checkpoint_every = 4;
  EXPECT_THAT(forecast(job).left_out, Contains(HasSubstr("a checkpoint every 4 steps: no phase")));
  job.phases.push_back(
      {.name = "checkpoint", .kind = PhaseKind::other, .scope = Scope::checkpoint, .mean_seconds = 0.03});
  const Forecast f = forecast(job);
  ASSERT_THAT(f.segments, SizeIs(1));
  EXPECT_EQ(f.segments[0].count, 2);
  EXPECT_NEAR(f.segments[0].seconds.middle, 0.06, 1e-12);
  EXPECT_NEAR(f.models[0].seconds.middle, 1.065, 1e-9);
  EXPECT_NEAR(f.models[4].seconds.middle, 1.065, 1e-9);
  EXPECT_NEAR(what_if_seconds(f, "no loading"), 0.603 + 0.06, 1e-9);
  EXPECT_NEAR(what_if_seconds(f, "batch 200"), 5.025 * 0.2 + 0.03, 1e-9);
  EXPECT_THAT(f.left_out, Not(Contains(HasSubstr("checkpoint"))));
}

TEST(Forecast, SaysThatAnEpochEndsBeforeTheFirstCheckpoint) {
  Job job = by_hand();
  job.dataset.checkpoint_every = 12;
  job.phases.push_back(
      {.name = "checkpoint", .kind = PhaseKind::other, .scope = Scope::checkpoint, .mean_seconds = 0.03});
  const Forecast f = forecast(job);
  EXPECT_THAT(f.segments, IsEmpty());
  EXPECT_THAT(f.left_out, Contains(HasSubstr("a checkpoint every 12 steps: an epoch has fewer")));
}

// 10.05 steps less 0.04, 0.05 and 0.01 s each.
TEST(Forecast, SaysWhatAnEpochIsWithoutEachPart) {
  const Forecast f = forecast(by_hand());
  EXPECT_NEAR(what_if_seconds(f, "no loading"), 0.603, 1e-9);
  EXPECT_NEAR(what_if_seconds(f, "no forward"), 0.5025, 1e-9);
  EXPECT_NEAR(what_if_seconds(f, "no copy"), 0.9045, 1e-9);
  EXPECT_NEAR(f.what_if.at(0).saved, 0.402, 1e-9);
}

// The loading hides behind steps of 0.06 s with a worker, but for the first. On full cores it may take 1.8
// times as long as 10.05 steps of 0.1 s, and nobody knows whether they are.
TEST(Forecast, SaysWhatWorkersBringAtBestAndAtWorst) {
  const WhatIf row = what_if_row(forecast(by_hand()), "1 worker");
  EXPECT_FALSE(row.seconds);
  EXPECT_NEAR(row.least, 0.04 + 0.603, 1e-9);
  EXPECT_NEAR(row.most, 1.8 * 1.005, 1e-9);
  EXPECT_THAT(row.given, HasSubstr("say whether cores are left for more workers"));
}

/// An epoch of a thousand steps with workers, of which the first hundred were not timed; 0: without what a
/// worker takes for a batch.
Job with_workers(Index workers, double step, double wait, double worker) {
  const auto phase = [](const char* name, double seconds, bool overlaps) {
    return timed_phase(name, PhaseKind::load, std::vector<double>(100, seconds), overlaps);
  };
  Job out{.name = "job",
          .dataset = {.train = 100000, .batch = 100},
          .loader = {.workers = workers},
          .windows = {timed_window(20, std::vector<double>(100, step))},
          .phases = {phase("load", wait, false)},
          .weather = {.seconds = 5},
          .source = "job.json"};
  if (worker > 0) out.phases.push_back(phase("worker", worker, true));
  return out;
}

// Eight workers of 50 ms would give a batch every 6.25 ms, and one came every 31 ms, since a step takes 60 ms
// of two cores. Two workers have these cores as well, and one alone gives a batch every 50 ms, or 60 where it
// took all of the 60.
TEST(Forecast, LetsFewerWorkersContendLess) {
  Job job = with_workers(8, 0.031, 0.004, 0.05);
  job.cores = 2;
  job.processor_seconds = 0.06;
  const Forecast f = forecast(job);
  EXPECT_NEAR(what_if_seconds(f, "2 workers"), 31, 0.5);
  const WhatIf one = what_if_row(f, "1 worker");
  EXPECT_NEAR(*one.seconds, 50, 0.5);
  EXPECT_NEAR(one.least, 50, 0.5);
  EXPECT_NEAR(one.most, 60, 0.5);
  EXPECT_THAT(one.given, HasSubstr("at least 30.0 s: 60.0 s of processors on 2.0 cores"));
  EXPECT_THAT(one.given, Not(HasSubstr("80 %"))) << "they are handed over already";
  const WhatIf none = what_if_row(f, "no workers");
  EXPECT_NEAR(*none.seconds, 50 + 27, 1e-6);
  EXPECT_NEAR(none.least, 50 + 27 / 4.96, 0.2) << "steps without any contention";
}

// As recorded: two workers took 8.17 s for 500 steps, and one took 8.22 s. Without
// the time of a batch alone, 18 of 30 ms of processors are those of the workers.
TEST(Forecast, KeepsTheTimeOfAnEpochWhereOneWorkerFillsTheProcessors) {
  Job job = with_workers(2, 0.01645, 0.00454, 0.01446);
  job.cores = 2;
  job.processor_seconds = 0.0299;
  WhatIf one = what_if_row(forecast(job), "1 worker");
  EXPECT_NEAR(*one.seconds, 16.44, 0.3);
  EXPECT_NEAR(one.least, 14.95, 0.1) << "29.9 ms of two cores";
  EXPECT_NEAR(one.most, 29.9, 0.3) << "all of them in the worker";
  job.phases.pop_back();
  one = what_if_row(forecast(job), "1 worker");
  EXPECT_NEAR(*one.seconds, 29.9 - 16.45 + 4.54, 0.3);
  EXPECT_THAT(one.given, HasSubstr("a batch takes its worker 18.0 ms of a processor"));
  job.worker_processor_seconds = 0.017;
  one = what_if_row(forecast(job), "1 worker");
  EXPECT_NEAR(*one.seconds, 17, 0.3);
}

// A worker of 20 ms gave a batch every 30 ms, on eight cores: two of them give one every 15 ms, or every 30
// ms as before. Without the cores nobody knows which.
TEST(Forecast, LetsMoreWorkersContendMoreInTheRange) {
  Job job = with_workers(1, 0.03, 0.02, 0.02);
  job.cores = 8;
  job.processor_seconds = 0.03;
  WhatIf two = what_if_row(forecast(job), "2 workers");
  EXPECT_NEAR(*two.seconds, 15, 0.3);
  EXPECT_NEAR(two.least, 15, 0.3);
  EXPECT_NEAR(two.most, 30, 0.4);
  job.cores = 0;
  two = what_if_row(forecast(job), "2 workers");
  EXPECT_FALSE(two.seconds);
  EXPECT_NEAR(two.most, 30, 0.4);
}

// A worker that took 5 ms of a processor for a batch every 50 ms waited for a disk: two took 100 ms each.
TEST(Forecast, TakesNoWaitForADiskForContention) {
  Job job = with_workers(2, 0.05, 0.04, 0);
  job.cores = 8;
  job.processor_seconds = 0.015;
  job.worker_processor_seconds = 0.005;
  const Forecast f = forecast(job);
  EXPECT_NEAR(what_if_seconds(f, "1 worker"), 100, 2);
  EXPECT_NEAR(what_if_seconds(f, "4 workers"), 25, 1);
}

// Batches of 200: five steps and 5 / 200 of one, each 0.08 s of loading and 0.12 s of the rest, or 0.06 s, or
// 0.24 s where caches no longer hold them.
TEST(Forecast, SaysWhatABatchBringsAndWhatItDoesNotKnow) {
  const Forecast f = forecast(by_hand());
  for (const WhatIf& one : f.what_if) {
    if (one.change != "batch 200") continue;
    EXPECT_NEAR(*one.seconds, 5.025 * 0.2, 1e-9);
    EXPECT_NEAR(one.most, 5.025 * 0.32, 1e-9);
    EXPECT_NEAR(one.least, 5.025 * 0.14, 1e-9);
    return;
  }
  FAIL() << "no row for batch 200";
}

TEST(Forecast, NamesWhatLimitsAStep) {
  Job job = by_hand();
  EXPECT_THAT(forecast(job).limited_by, HasSubstr("the step itself: nothing overlaps"));
  job.loader.workers = 2;
  job.phases[0].overlaps = true;
  job.windows[0].wall_seconds = 0.6;
  job.windows[0].step_seconds.assign(10, 0.06);
  EXPECT_THAT(forecast(job).limited_by, HasSubstr("the step itself: 60.0 ms"));
  job.phases[0].seconds.assign(10, 0.4);
  EXPECT_THAT(forecast(job).limited_by, HasSubstr("the loader: a batch every"));
  job.phases[0].seconds = {0.01, 0.01, 0.01, 0.01, 0.4};
  job.loader.prefetch = 1;
  EXPECT_THAT(forecast(job).limited_by, HasSubstr("uneven loading"));
}

// Two workers hide the loading, so that the parts explain 0.06 of 0.1 s; then they say 0.2 s and it took 0.1.
TEST(Forecast, DoubtsPartsThatDoNotExplainTheStep) {
  Job job = by_hand();
  job.loader.workers = 2;
  job.phases[0].overlaps = true;
  Forecast f = forecast(job);
  EXPECT_TRUE(f.calibration.flagged(Doubt::parts));
  EXPECT_NEAR(f.queue.load_contention, 0.1 / 0.06, 1e-3);
  job.phases[0].seconds.assign(10, 0.4);
  f = forecast(job);
  EXPECT_TRUE(f.calibration.flagged(Doubt::parts));
  EXPECT_EQ(f.queue.load_contention, 1);
}

// The loop waits 0.4 of 30.4 ms, and nobody named the rest.
TEST(Forecast, LetsTheUnnamedRestCompeteForTheLimit) {
  Job job = by_hand();
  job.loader.workers = 2;
  job.windows[0].step_seconds.assign(10, 0.0304);
  job.windows[0].wall_seconds = 0.304;
  job.phases.resize(1);
  job.phases[0].seconds.assign(10, 0.0004);
  job.phases[0].mean_seconds = 0.0004;
  EXPECT_THAT(forecast(job).limited_by, HasSubstr("the step itself: 30.0 ms of 30.4 ms that no phase names"));
}

// 10.05 steps take 0.095 s of processors each, and two cores are left: 0.477 s, and a quarter more for
// handing batches over, though the loader would give them all in 0.603 + 0.04 s. Of half a core 2.5 s are the
// least.
TEST(Forecast, LetsWorkersBringNoMoreThanTheProcessorsHold) {
  Job job = by_hand();
  job.cores = 2;
  job.processor_seconds = 0.095;
  job.weather = {.seconds = 5};
  EXPECT_NEAR(what_if_seconds(forecast(job), "1 worker"), 0.04 + 0.603, 1e-9);
  job.processor_seconds = 0.05;
  job.weather.other_busy_share = 0.8;
  const Forecast full = forecast(job);
  EXPECT_NEAR(what_if_seconds(full, "2 workers"), 1.25 * 10.05 * 0.05 / 0.5, 1e-9) << "slower than 1.005 s";
  for (const WhatIf& one : full.what_if) {
    EXPECT_NE(one.change, "4 workers") << "there are two cores";
    if (one.change != "2 workers") continue;
    EXPECT_THAT(one.given, HasSubstr("at least 1.00 s: 503 ms of processors on 0.5 cores"));
  }
}

TEST(Forecast, HasNoEpochWithoutASingleStep) {
  Job job = by_hand();
  job.dataset = {.train = 10, .batch = 32, .drop_last = true};
  EXPECT_THAT(forecast(job).no_epoch, HasSubstr("a batch of 32 is dropped"));
}

TEST(Forecast, AsksForWhatItDoesNotKnow) {
  const Forecast f = forecast(by_hand());
  EXPECT_THAT(f.left_out, Contains(HasSubstr("validation and evaluation")));
  EXPECT_THAT(f.left_out, Contains(HasSubstr("checkpoint_every")));
}

// 10.05 steps of 0.06 s, or of 0.04 s.
TEST(Forecast, BoundsAnEpochByEachResource) {
  const Forecast f = forecast(by_hand());
  EXPECT_NEAR(what_if_seconds(f, "no loading"), 0.603, 1e-9);
  EXPECT_NEAR(what_if_seconds(f, "loading alone"), 0.402, 1e-9);
}

TEST(Forecast, HasNoEpochWithoutTheDataSet) {
  Job job = by_hand();
  job.dataset = {};
  const Forecast f = forecast(job);
  EXPECT_THAT(f.no_epoch, HasSubstr("batch is not known"));
  EXPECT_THAT(f.models, IsEmpty());
}

// Predicted 1.005 s, measured 0.9: 11.7 % too long.
TEST(Forecast, IsScoredByTheMeasuredEpoch) {
  Job job = by_hand();
  job.epoch_seconds = 0.9;
  const Forecast f = forecast(job);
  ASSERT_THAT(f.scores, SizeIs(1));
  EXPECT_NEAR(f.scores[0].models[0].error, 1.005 / 0.9 - 1, 1e-9);
}

// A later window of five steps of 0.08 s, in which loading fell to 0.02 s: 25 % too long, by the loader
// alone.
TEST(Forecast, IsScoredByALaterWindow) {
  Job later = by_hand();
  later.windows = {
      {.first_step = 30, .steps = 5, .wall_seconds = 0.4, .step_seconds = std::vector<double>(5, 0.08)}};
  later.phases.resize(2);
  later.phases[0].seconds.assign(5, 0.02);
  later.phases[1].seconds.assign(5, 0.05);
  const Job job = by_hand();
  const Forecast f = forecast(job, &later);
  ASSERT_THAT(f.scores, SizeIs(1));
  const Score& score = f.scores[0];
  ASSERT_THAT(score.models, SizeIs(5));
  for (const Scored& one : score.models) EXPECT_NEAR(one.error, 0.25, 1e-9) << one.name;
  ASSERT_THAT(score.phases, SizeIs(2));
  EXPECT_NEAR(score.phases[0].error, 1, 1e-9);
  EXPECT_NEAR(score.phases[1].error, 0, 1e-9);
  EXPECT_THAT(score.drift, HasSubstr("from 100 ms to 80.0 ms, most of all load, from 40.0 ms to 20.0 ms"));
}

// Predicted 1.005 s of steps, 2.5 batches of validation of 0.02 s and two checkpoints of 0.03 s: 1.115 s. A
// batch took 0.025 s, a checkpoint 0.02 s, and the epoch 1.2 s.
TEST(Forecast, IsScoredWithValidationAndCheckpoints) {
  Job job = by_hand();
  job.dataset.validation = 250;
  job.dataset.checkpoint_every = 4;
  job.phases.push_back(
      {.name = "validation", .kind = PhaseKind::compute, .scope = Scope::validation, .mean_seconds = 0.02});
  job.phases.push_back(
      {.name = "checkpoint", .kind = PhaseKind::other, .scope = Scope::checkpoint, .mean_seconds = 0.03});
  Job later = job;
  later.phases[3].mean_seconds = 0.025;
  later.phases[4].mean_seconds = 0.02;
  later.epoch_seconds = 1.2;
  const Forecast f = forecast(job, &later);
  ASSERT_THAT(f.scores, SizeIs(2));
  EXPECT_EQ(f.scores[0].measured, "the epoch");
  EXPECT_NEAR(f.scores[0].models.at(0).error, 1.115 / 1.2 - 1, 1e-9);
  EXPECT_NEAR(f.scores[1].models.at(0).error, 0, 1e-9) << "a window of steps alone";
  const std::vector<Scored>& phases = f.scores[1].phases;
  ASSERT_THAT(phases, SizeIs(5));
  EXPECT_EQ(phases[3].name, "validation, per batch");
  EXPECT_NEAR(phases[3].error, -0.2, 1e-9);
  EXPECT_EQ(phases[4].name, "checkpoint, per write");
  EXPECT_NEAR(phases[4].error, 0.5, 1e-9);
}

TEST(Forecast, RefusesToBeScoredByNothing) {
  Job empty = by_hand();
  empty.windows.clear();
  const Job job = by_hand();
  EXPECT_THROW(forecast(job, &empty), Error);
}

}  // namespace
}  // namespace assay
