#include "training/epoch/loader_queue.hpp"

#include "assay/random.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace assay {
namespace {

using ::testing::ElementsAre;

struct Played {
  QueueRun run;
  std::vector<double> waits;
};

/// These times in their order, over and over.
std::function<double()> in_turn(const std::vector<double>& times) {
  return [&times, at = std::size_t{0}]() mutable { return times[at++ % times.size()]; };
}

/// These times in a drawn order.
std::function<double()> drawn(const std::vector<double>& times, std::uint64_t seed) {
  return [&times, rng = Rng(seed)]() mutable {
    return times[static_cast<std::size_t>(rng.integer(0, std::ssize(times) - 1))];
  };
}

Played play_recorded(const LoaderQueue& queue, Index steps, const std::vector<double>& load,
                     const std::vector<double>& compute) {
  Played out;
  out.waits.resize(static_cast<std::size_t>(steps));
  out.run = play(queue, steps, in_turn(load), in_turn(compute), out.waits);
  return out;
}

// A batch every 3 / 2 s and a step of 2 s: after the first fill of 3 s nobody waits, 3 + 10 * 2.
TEST(LoaderQueue, TakesTheStepsAloneWhereTheLoaderIsFaster) {
  const Played played = play_recorded({.workers = 2, .prefetch = 2}, 10, {3}, {2});
  EXPECT_EQ(played.run.seconds, 23);
  EXPECT_EQ(played.run.first_fill, 3);
  EXPECT_EQ(played.run.waited, 3);
}

// A batch every 6 / 2 s and a step of 2 s. Both workers finish together, every 6 s: the pair is used in 4 s
// and the next one is waited for. Five pairs, and the last is used: 5 * 6 + 2 * 2.
TEST(LoaderQueue, TakesLoadByWorkersWhereTheLoaderIsSlower) {
  const Played played = play_recorded({.workers = 2, .prefetch = 2}, 10, {6}, {2});
  EXPECT_EQ(played.run.seconds, 34);
  EXPECT_EQ(played.run.first_fill, 6);
  const Played longer = play_recorded({.workers = 2, .prefetch = 2}, 1010, {6}, {2});
  EXPECT_EQ(longer.run.seconds - played.run.seconds, 1000 * 6.0 / 2);
}

// Batches 0 and 1 are sent at 0 and ready at 4 and 1. Batch 0 is handed over at 4, when 2 is sent: ready
// at 5. Batch 1 at 5, 3 is sent and ready at 6; batch 2 at 6, 4 is ready at 7; 3 at 7; 4 at 8, and used at 9.
TEST(LoaderQueue, WaitsForASlowBatchInOrder) {
  const Played played = play_recorded({.workers = 2, .prefetch = 1}, 5, {4, 1, 1, 1, 1}, {1});
  EXPECT_THAT(played.waits, ElementsAre(4, 0, 0, 0, 0));
  EXPECT_EQ(played.run.seconds, 9);
}

// Batch 1 is ready at 1 and taken; its worker makes 2, 3 and 4 by 2, 3 and 4, each used when it is ready. At
// 4 batch 0 is taken, at 5 batch 4, which is used at 6.
TEST(LoaderQueue, TakesWhatIsReadyOutOfOrder) {
  const Played played =
      play_recorded({.workers = 2, .prefetch = 1, .in_order = false}, 5, {4, 1, 1, 1, 1}, {1});
  EXPECT_THAT(played.waits, ElementsAre(1, 0, 0, 0, 0));
  EXPECT_EQ(played.run.seconds, 6);
}

// Ready at 1, 5, 2, 6; batch 4 is sent at 1, when batch 0 is handed over, and ready at 3. Batch 1 is wanted
// at 3 and comes at 5; nothing else is waited for: 5 + 4 * 2.
TEST(LoaderQueue, WaitsForASlowBatchThatOthersOvertook) {
  const Played played = play_recorded({.workers = 2, .prefetch = 2}, 5, {1, 5, 1, 1, 1}, {2});
  EXPECT_THAT(played.waits, ElementsAre(1, 2, 0, 0, 0));
  EXPECT_EQ(played.run.seconds, 13);
}

// Mean 3 s by two workers is a batch every 1.5 s, and a step is 1.6 s: by means nobody ever waits.
TEST(LoaderQueue, IsSlowerThanMeansSayWhereTimesVaryAndSlowestInOrder) {
  const std::vector<double> load{1, 1, 1, 9}, compute{1.6};
  const auto seconds = [&](bool in_order) {
    return play({.workers = 2, .prefetch = 2, .in_order = in_order}, 10000, drawn(load, 1), in_turn(compute))
        .seconds;
  };
  EXPECT_GT(seconds(false), 1.05 * 16000);
  EXPECT_GT(seconds(true), 1.05 * seconds(false));
}

TEST(LoaderQueue, WaitsLessWithMorePrefetchWhereTimesVary) {
  const std::vector<double> load{1, 1, 1, 9}, compute{1.6};
  double before = 1e9;
  for (const Index prefetch : {1, 2, 4, 8}) {
    const double waited =
        play({.workers = 2, .prefetch = prefetch}, 10000, drawn(load, 1), in_turn(compute)).waited;
    EXPECT_LT(waited, before) << prefetch;
    before = waited;
  }
}

// 1 + 2 + 3 of loading and 3 * 10 of steps.
TEST(LoaderQueue, IsTheSumWithoutWorkers) {
  const Played played =
      play_recorded({.workers = 0, .load_contention = 7, .compute_contention = 7}, 3, {1, 2, 3}, {10});
  EXPECT_THAT(played.waits, ElementsAre(1, 2, 3));
  EXPECT_EQ(played.run.seconds, 36);
}

// All three batches are ready at 5.
TEST(LoaderQueue, HasIdleWorkersWhereThereAreFewerBatches) {
  for (const bool in_order : {true, false}) {
    const Played played = play_recorded({.workers = 8, .prefetch = 2, .in_order = in_order}, 3, {5}, {1});
    EXPECT_THAT(played.waits, ElementsAre(5, 0, 0)) << in_order;
    EXPECT_EQ(played.run.seconds, 8);
  }
}

TEST(LoaderQueue, TakesNoTimeForNoSteps) {
  for (const Index workers : {0, 3}) {
    const Played played = play_recorded({.workers = workers}, 0, {5}, {1});
    EXPECT_EQ(played.run.seconds, 0);
    EXPECT_EQ(played.run.waited, 0);
  }
}

// Loads of 6 instead of 3, steps of 6 instead of 2: the first fill and ten steps.
TEST(LoaderQueue, StretchesBothSidesByTheirContention) {
  const Played played = play_recorded(
      {.workers = 2, .prefetch = 2, .load_contention = 2, .compute_contention = 3}, 10, {3}, {2});
  EXPECT_EQ(played.run.seconds, 66);
}

TEST(LoaderQueue, DeliversInOrderAndOutOfOrderAlikeWithOneWorker) {
  const std::vector<double> load{1, 4, 2, 8, 5, 7}, compute{3, 1, 4, 1, 5, 9, 2};
  const Played first = play_recorded({.workers = 1, .prefetch = 3}, 50, load, compute);
  const Played second = play_recorded({.workers = 1, .prefetch = 3, .in_order = false}, 50, load, compute);
  EXPECT_EQ(first.waits, second.waits);
}

TEST(LoaderQueue, AccountsForEverySecond) {
  const std::vector<double> load{1, 4, 2, 8, 5, 7}, compute{3, 1, 4, 1, 5, 9, 2};
  for (const bool in_order : {true, false}) {
    const Played played =
        play_recorded({.workers = 3, .prefetch = 2, .in_order = in_order}, 70, load, compute);
    EXPECT_NEAR(std::accumulate(played.waits.begin(), played.waits.end(), 0.0), played.run.waited, 1e-9);
    EXPECT_NEAR(played.run.seconds - played.run.waited, 10 * (3 + 1 + 4 + 1 + 5 + 9 + 2), 1e-9);
  }
}

TEST(LoaderQueue, PlaysAMillionSteps) {
  const std::vector<double> load{0.5}, compute{1};
  EXPECT_EQ(play({.workers = 4, .prefetch = 2}, 1'000'000, drawn(load, 1), drawn(compute, 2)).seconds,
            1'000'000.5);
}

// Batches of 1 s and steps of 1 s; what missing pages cost on top of them fades as 4, 2, 1.
TEST(LoaderQueue, WaitsLongerForTheFirstBatchesOfAColdStart) {
  const std::vector<double> one{1.0};
  LoaderQueue queue{.cold = {.first = 4, .rate = std::log(2.0)}};
  EXPECT_NEAR(play(queue, 3, in_turn(one), in_turn(one)).seconds, 3 * 2 + 4 + 2 + 1, 1e-9);
  // One worker, one batch ahead: ready after 5 s, then 3 s after it was sent, then 2 s.
  queue.workers = 1;
  queue.prefetch = 1;
  EXPECT_NEAR(play(queue, 3, in_turn(one), in_turn(one)).seconds, 5 + 3 + 2 + 1, 1e-9);
}

}  // namespace
}  // namespace assay
